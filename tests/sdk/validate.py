"""Compares requests with the types of the providers' own SDKs; a field the SDK does not know is an error too.

Reads one JSON object per line, {"api": "messages" | "count_tokens" | "chat", "body": …}, says what is wrong on standard
error, and how many requests of each kind were right on standard output. tests/it/models/choice.rs runs it.
"""

import json
import sys
from collections import Counter

from anthropic.types import MessageCountTokensParams
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from jsonschema import Draft202012Validator
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

APIS = {
    "messages": MessageCreateParamsStreaming,
    "count_tokens": MessageCountTokensParams,
    "chat": CompletionCreateParamsStreaming,
}


def closed(schema):
    """The schema without room for fields it does not name. Objects that name none (a tool's own schema) stay open."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(value) for key, value in schema.items()}
    if schema.get("type") == "object" and schema.get("properties"):
        schema["additionalProperties"] = False
    return schema


def deepest(error):
    """Of the reasons why no variant fits, the one that got furthest."""
    while error.context:
        error = max(error.context, key=lambda inner: (len(inner.absolute_path), len(inner.context or ())))
    return error


def main():
    # Lists are generators in the SDK's types, which pydantic would check only when they are read: hence the schema.
    validators = {api: Draft202012Validator(closed(TypeAdapter(params).json_schema())) for api, params in APIS.items()}
    good, bad = Counter(), 0
    for number, line in enumerate(sys.stdin, 1):
        request = json.loads(line)
        errors = list(validators[request["api"]].iter_errors(request["body"]))
        for error in errors:
            reason = deepest(error)
            where = "/".join(map(str, reason.absolute_path)) or "the body"
            print(f"request {number} ({request['api']}): {where}: {reason.message[:500]}", file=sys.stderr)
        bad += bool(errors)
        good[request["api"]] += not errors
    print(json.dumps(good))
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
