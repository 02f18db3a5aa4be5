"""The official Python SDK against this server: plain, streamed, with tools, with errors, with its own tool runner.

Called with address, token, model and document; prints one JSON object with what it saw. tests/it/api/messages/clients.rs runs it,
and decides about the changes in between.
"""

import json
import sys

import anthropic
from anthropic import beta_tool

URL, TOKEN, MODEL, DOCUMENT = sys.argv[1:]
WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TIME = {**WEATHER, "name": "get_time", "description": "The time in a city."}


@beta_tool
def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Its name.
    """
    return f"Rain in {city}"


def text(message):
    return "".join(block.text for block in message.content if block.type == "text")


def main():
    client = anthropic.Anthropic(api_key=TOKEN, base_url=URL, max_retries=0)
    seen = {}

    def create(said, **more):
        return client.messages.create(model=MODEL, max_tokens=500, messages=said, **more)

    def user(content):
        return {"role": "user", "content": content}

    plain = create([user("Hello")])
    seen["plain"] = [text(plain), plain.stop_reason, plain.model == MODEL, plain._request_id is not None]

    with client.messages.stream(model=MODEL, max_tokens=500, messages=[user("Hello")]) as stream:
        pieces = list(stream.text_stream)
        whole = stream.get_final_message()
    seen["stream"] = ["".join(pieces), len(pieces) > 1, text(whole), whole.stop_reason]

    def round_trip(said, tools, answers, **more):
        said = [user(said)]
        with client.messages.stream(model=MODEL, max_tokens=500, messages=said, tools=tools, **more) as stream:
            message = stream.get_final_message()
        calls = [block for block in message.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": answers[call.name]} for call in calls
        ]
        last = create([*said, {"role": "assistant", "content": message.content}, user(results)], tools=tools)
        return [[[call.name, call.input] for call in calls], message.stop_reason, text(last)]

    seen["tool"] = round_trip("weather", [WEATHER], {"get_weather": "Rain"})
    seen["parallel"] = round_trip("both", [WEATHER, TIME], {"get_weather": "Rain", "get_time": "noon"})

    def choice(value):
        message = create([user("both")], tools=[WEATHER, TIME], tool_choice=value)
        return [block.name for block in message.content if block.type == "tool_use"]

    seen["choice"] = [
        choice({"type": "auto", "disable_parallel_tool_use": True}),
        choice({"type": "tool", "name": "get_time"}),
        choice({"type": "none"}),
        choice({"type": "any", "disable_parallel_tool_use": True}),
        choice({"type": "tool", "name": "get_time", "disable_parallel_tool_use": True}),
    ]

    def error(make):
        try:
            make()
        except anthropic.APIStatusError as problem:
            return [type(problem).__name__, problem.status_code, problem.request_id is not None]
        return None

    stranger = anthropic.Anthropic(api_key="nobody", base_url=URL, max_retries=0)
    seen["errors"] = [
        error(lambda: stranger.messages.create(model=MODEL, max_tokens=1, messages=[user("Hello")])),
        error(lambda: client.messages.create(model="gpt", max_tokens=1, messages=[user("Hello")])),
        error(lambda: create([user("busy")])),
        error(lambda: create([{"role": "assistant", "content": "x"}])),
    ]

    # Longer than the API takes.
    seen["too_long"] = error(lambda: create([user("x" * (33 << 20))]))[1]

    def thread():
        try:
            client.beta.messages.create(
                model=MODEL, max_tokens=1, messages=[user("Hello")], extra_body={"thread": {"type": "create"}}
            )
        except anthropic.BadRequestError as problem:
            return problem.body["error"]["details"]["error_code"]
        return None

    seen["thread"] = thread()

    runner = client.beta.messages.tool_runner(
        model=MODEL, max_tokens=500, messages=[user("weather")], tools=[get_weather]
    )
    seen["runner"] = text(runner.until_done())

    models = [model.id for model in client.models.list()]
    seen["models"] = [models[:1] == [MODEL], [model.id for model in client.models.list(limit=1)] == models]
    counted = client.messages.count_tokens(model=MODEL, messages=[user("Hello")])
    seen["counted"] = counted.input_tokens > 0

    inside = client.with_options(default_headers={"x-copydesk-document": DOCUMENT})
    seen["document"] = []
    for streamed in (False, True, False):
        if streamed:
            with inside.messages.stream(model=MODEL, max_tokens=500, messages=[user("edit")]) as stream:
                message = stream.get_final_message()
        else:
            message = inside.messages.create(model=MODEL, max_tokens=500, messages=[user("edit")])
        seen["document"].append([text(message), message.stop_reason])
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
