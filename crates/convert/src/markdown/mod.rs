//! Markdown out of the tree: escapes, fences, nesting, and blanks beside marks.
