// The official TypeScript SDK against this server: the same as messages.py, with the same output.

import { pathToFileURL } from 'node:url';

const [modules, baseURL, apiKey, model, document] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/@anthropic-ai/sdk/${path}`).href);
const { default: Anthropic, APIError } = await load('index.mjs');
const { betaTool } = await load('helpers/beta/json-schema.mjs');

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { name: 'get_weather', description: 'The weather of a city.', input_schema: schema };
const time = { ...weather, name: 'get_time', description: 'The time in a city.' };

const client = new Anthropic({ apiKey, baseURL, maxRetries: 0 });
const user = (content) => ({ role: 'user', content });
const text = (message) => message.content.filter((b) => b.type === 'text').map((b) => b.text).join('');
const create = (messages, more = {}) => client.messages.create({ model, max_tokens: 500, messages, ...more });
const seen = {};

const plain = await create([user('Hello')]);
seen.plain = [text(plain), plain.stop_reason, plain.model === model, Boolean(plain._request_id)];

const stream = client.messages.stream({ model, max_tokens: 500, messages: [user('Hello')] });
const pieces = [];
stream.on('text', (piece) => pieces.push(piece));
const whole = await stream.finalMessage();
seen.stream = [pieces.join(''), pieces.length > 1, text(whole), whole.stop_reason];

async function roundTrip(words, tools, answers) {
  const said = [user(words)];
  const message = await client.messages.stream({ model, max_tokens: 500, messages: said, tools }).finalMessage();
  const calls = message.content.filter((b) => b.type === 'tool_use');
  const results = calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: answers[call.name] }));
  const last = await create([...said, { role: 'assistant', content: message.content }, user(results)], { tools });
  return [calls.map((call) => [call.name, call.input]), message.stop_reason, text(last)];
}

seen.tool = await roundTrip('weather', [weather], { get_weather: 'Rain' });
seen.parallel = await roundTrip('both', [weather, time], { get_weather: 'Rain', get_time: 'noon' });

async function choice(tool_choice) {
  const message = await create([user('both')], { tools: [weather, time], tool_choice });
  return message.content.filter((b) => b.type === 'tool_use').map((b) => b.name);
}

seen.choice = [
  await choice({ type: 'auto', disable_parallel_tool_use: true }),
  await choice({ type: 'tool', name: 'get_time' }),
  await choice({ type: 'none' }),
  await choice({ type: 'any', disable_parallel_tool_use: true }),
  await choice({ type: 'tool', name: 'get_time', disable_parallel_tool_use: true }),
];

async function error(make) {
  try {
    await make();
  } catch (problem) {
    if (!(problem instanceof APIError)) throw problem;
    return [problem.constructor.name, problem.status, Boolean(problem.requestID)];
  }
  return null;
}

const stranger = new Anthropic({ apiKey: 'nobody', baseURL, maxRetries: 0 });
seen.errors = [
  await error(() => stranger.messages.create({ model, max_tokens: 1, messages: [user('Hello')] })),
  await error(() => create([user('Hello')], { model: 'gpt' })),
  await error(() => create([user('busy')])),
  await error(() => create([{ role: 'assistant', content: 'x' }])),
];

// Longer than the API takes.
seen.too_long = (await error(() => create([user('x'.repeat(33 << 20))])))[1];

async function thread() {
  const asked = { model, max_tokens: 1, messages: [user('Hello')], thread: { type: 'create' } };
  try {
    await client.beta.messages.create(asked);
  } catch (problem) {
    if (!(problem instanceof APIError)) throw problem;
    return problem.error.error.details.error_code;
  }
  return null;
}

seen.thread = await thread();

const run = async ({ city }) => `Rain in ${city}`;
const tool = betaTool({ name: 'get_weather', description: 'The weather of a city.', inputSchema: schema, run });
const runner = client.beta.messages.toolRunner({ model, max_tokens: 500, messages: [user('weather')], tools: [tool] });
seen.runner = text(await runner.runUntilDone());

async function listed(page) {
  const ids = [];
  for await (const model of client.models.list(page)) ids.push(model.id);
  return ids;
}

const models = await listed({});
seen.models = [models[0] === model, JSON.stringify(await listed({ limit: 1 })) === JSON.stringify(models)];
seen.counted = (await client.messages.countTokens({ model, messages: [user('Hello')] })).input_tokens > 0;

const headers = { 'x-copydesk-document': document };
seen.document = [];
for (const streamed of [false, true, false]) {
  const params = { model, max_tokens: 500, messages: [user('edit')] };
  const message = streamed
    ? await client.messages.stream(params, { headers }).finalMessage()
    : await client.messages.create(params, { headers });
  seen.document.push([text(message), message.stop_reason]);
}
console.log(JSON.stringify(seen));
