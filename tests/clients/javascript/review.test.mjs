import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { serve } from './copydesk.mjs';

const SCRIPTS = process.env.COPYDESK_SCRIPTS ?? join(import.meta.dirname, '../../../fixtures/scripts');
const TEXT = 'He could of slept. It were late.';

let server;
before(async () => { server = await serve(join(SCRIPTS, 'two-corrections.json')); });
after(() => server.stop());

test('nothing changes before a person decides, and then exactly that', async () => {
  const ana = await server.person('Ana');
  const document = await ana.opens(TEXT);
  await ana.prompts(document, 'Correct this');
  const request = await ana.hears('tool_approval_request');
  assert.equal(await ana.reads(document), TEXT);
  assert.deepEqual(request.hunks.map(({ parts }) => parts.map((part) => [part.base, part.insert])),
    [[['of', 'have']], [['were', 'was']]]);
  const { request_id, preview_hash } = request;
  const decided = await ana.asks('tool_approval_response', { request_id, preview_hash, approved: true });
  assert.deepEqual([decided.ok, decided.status], [true, 'approved']);
  const answer = await ana.hears('claudeResponse');
  assert.deepEqual([answer.updateType, answer.documentUpdate], ['full', 'He could have slept. It was late.']);
});

test('one change is taken, the other refused, and the model hears why', async () => {
  const ana = await server.person('Ana');
  const document = await ana.opens(TEXT);
  await ana.prompts(document, 'Correct this');
  const { request_id, hunks } = await ana.hears('tool_approval_request');
  const [first, second] = hunks.map(({ id }) => id);
  const some = [{ id: first, decision: 'accept' }, { id: second, decision: 'reject' }];
  const feedback = 'He speaks like that';
  await ana.asks('tool_approval_response', { request_id, approved: true, hunks: some, feedback });
  assert.equal((await ana.hears('tool_approval_resolved')).status, 'partly');
  await ana.hears('claudeResponse');
  assert.equal(await ana.reads(document), 'He could have slept. It were late.');
});

test('a rejection reaches the model in the person’s words', async () => {
  const ana = await server.person('Ana');
  const document = await ana.opens(TEXT);
  await ana.prompts(document, 'Correct this');
  const { request_id } = await ana.hears('tool_approval_request');
  await ana.asks('tool_approval_response', { request_id, approved: false, feedback: 'Leave it' });
  assert.equal((await ana.hears('claudeResponse')).conversationMessage, 'Two slips.\nUnderstood.');
  assert.equal(await ana.reads(document), TEXT);
});

test('of two people who decide, the first wins and the other is notified', async () => {
  const [ana, bo] = [await server.person('Ana'), await server.person('Bo')];
  const document = await ana.opens(TEXT);
  await bo.asks('document:open', { documentId: document });
  await ana.prompts(document, 'Correct this');
  const { request_id } = await bo.hears('tool_approval_request');
  await bo.asks('tool_approval_response', { request_id, approved: true });
  const late = await ana.asks('tool_approval_response', { request_id, approved: false });
  assert.equal(late.error.code, 'already_resolved');
});

test('what no one decides in time is not applied', async () => {
  const hasty = await serve(join(SCRIPTS, 'two-corrections.json'), '--approval-timeout', '1');
  try {
    const ana = await hasty.person('Ana');
    const document = await ana.opens(TEXT);
    await ana.prompts(document, 'Correct this');
    assert.equal((await ana.hears('tool_approval_resolved')).status, 'expired');
    await ana.hears('claudeResponse');
    assert.equal(await ana.reads(document), TEXT);
  } finally {
    await hasty.stop();
  }
});
