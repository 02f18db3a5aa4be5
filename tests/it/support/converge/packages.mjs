// The real packages, from the folder named on the command line, where the editor's own build
// installed them.
import { createRequire } from "node:module";
import { join } from "node:path";

export const require = createRequire(join(process.argv[2], "anchor.js"));
export const { ChangeSet, EditorSelection, EditorState, Text } = require("@codemirror/state");
export const { collab, getSyncedVersion, receiveUpdates, sendableUpdates } = require("@codemirror/collab");
export const { history, redo, undo } = require("@codemirror/commands");
export const { io } = require("socket.io-client");
