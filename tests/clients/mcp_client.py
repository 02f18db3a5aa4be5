"""The official MCP client at work, while tests/it/api/mcp/official_client.rs decides about its calls: the first is approved, the second rejected,
the third left until this client gives up, the fourth, about a document, approved.

mcp_client.py http|stdio legacy|auto URL TOKEN BINARY DOCUMENT
"""

import asyncio
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOOLS = {"atlas_write", "atlas_edit", "atlas_multi_edit", "atlas_read", "atlas_glob", "atlas_grep", "read_document", "list_documents", "update_full_document"}


def text(result):
    assert result.structured_content is None
    (block,) = result.content
    return block.text


def write(path, content):
    return {"file_path": path, "content": content}


async def work(client, document, is_alone):
    assert client.server_info.name == "copydesk", client.server_info
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert TOOLS <= set(tools), tools.keys()
    assert tools["read_document"].annotations.read_only_hint is True
    assert tools["atlas_write"].annotations.destructive_hint is True

    heard = []

    async def progress(done, total, message):
        heard.append(message)

    done = await client.call_tool("atlas_write", write("official.txt", "hello"), progress_callback=progress)
    assert not done.is_error and text(done) == "Successfully wrote to official.txt", done
    assert any("waits for people" in message for message in heard), heard

    denied = await client.call_tool("atlas_write", write("rejected.txt", "hello"))
    assert denied.is_error and text(denied) == "[DENIED] Write rejected: Not there", denied

    try:
        await client.call_tool("atlas_write", write("late.txt", "hello"), read_timeout_seconds=1.5)
        raise AssertionError("no one decided, and yet there is an answer")
    except Exception as error:
        assert not isinstance(error, AssertionError), error

    read = await client.call_tool("atlas_read", {"file_path": "official.txt"})
    assert not read.is_error and text(read) == "hello", read
    assert tools["atlas_read"].annotations.read_only_hint is True

    uri = f"copydesk://documents/{document}"
    assert uri in {str(resource.uri) for resource in (await client.list_resources()).resources}
    (contents,) = (await client.read_resource(uri)).contents
    fixed = contents.text.replace("Teh", "The")
    arguments = {"document_id": document, "new_content": fixed, "explanation": "Spelling."}
    # Without a session the server does not know what this program has read.
    required = tools["update_full_document"].input_schema["required"]
    assert ("base_version" in required) == is_alone, required
    if is_alone:
        arguments["base_version"] = contents.meta["copydesk/version"]
    changed = await client.call_tool("update_full_document", arguments)
    assert not changed.is_error and text(changed).startswith("Applied: 1 accepted."), changed

    prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
    assert "fix_grammar" in prompts, prompts
    prompt = await client.get_prompt("fix_grammar", {"document_id": document})
    assert fixed in prompt.messages[-1].content.resource.text


async def main(over, mode, url, token, binary, document):
    if over == "stdio":
        server = StdioServerParameters(command=binary, args=["mcp", "--url", url], env={"COPYDESK_TOKEN": token})
        async with Client(server, mode=mode, cache=None) as client:
            await work(client, document, is_alone=False)
        return
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300)) as http:
        async with Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode, cache=None) as client:
            await work(client, document, is_alone=mode == "auto")


asyncio.run(main(*sys.argv[1:]))
