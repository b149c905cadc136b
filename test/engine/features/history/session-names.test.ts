import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { answeredTools, sessionNames, spokenTurns } from '../../../../engine/features/history/session-names.ts';
import { sessionSecret } from '../../../../engine/service/session-secret.ts';
import { chatClient } from '../../../../protocols/chat/index.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { responsesClient } from '../../../../protocols/responses/index.ts';

const sessionOf = sessionNames(() => 'secret');
const clients = { messages: messagesClient, chat: chatClient, responses: responsesClient };

const named = (
  wire: keyof typeof clients,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
  namedClient?: string,
): string | undefined =>
  sessionOf({
    client: clients[wire],
    namedClient,
    header: (name) => headers[name],
    request: clients[wire].decodeRequest(JSON.parse(JSON.stringify({ model: 'm', max_tokens: 9, ...body }))),
  });

const uuid = '0199a213-81c0-7800-8aa1-bbab2a035a53';
const hello = [{ role: 'user', content: 'Hello' }];

test("an agent's own id names the session: of a header, of metadata, of a cache key that is a conversation's", (t) => {
  t.is(named('messages', { messages: hello }, { 'x-claude-code-session-id': uuid }), uuid);
  const user_id = `user_${'a'.repeat(64)}_account__session_${uuid}`;
  t.is(named('messages', { messages: hello, metadata: { user_id } }), uuid);
  const json = JSON.stringify({ device_id: 'd', account_uuid: '', session_id: uuid });
  t.is(named('messages', { messages: hello, metadata: { user_id: json } }), uuid);
  t.is(named('responses', { input: 'Hello' }, { session_id: uuid }), uuid);
  t.is(named('responses', { input: 'Hello' }, { conversation_id: uuid }), uuid);
  t.is(named('responses', { input: 'Hello', prompt_cache_key: uuid }), uuid);
  t.not(named('responses', { input: 'Hello', prompt_cache_key: 'my-app' }), 'my-app');
});

test('otherwise the beginning names it: the same for later requests, another for other texts and clients', (t) => {
  const first = named('chat', { messages: hello }) ?? '';
  t.regex(first, /^[\w-]{22}$/);
  const later = [...hello, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'Go on' }];
  t.is(named('chat', { messages: [{ role: 'system', content: 'Today is Monday.' }, ...later] }), first);
  t.is(named('messages', { messages: later }), first, 'in whatever protocol it goes on');
  t.not(named('chat', { messages: [{ role: 'user', content: 'Good bye' }] }), first);
  t.not(named('chat', { messages: hello }, {}, 'team'), first);
  t.not(
    sessionNames(() => 'other')({
      client: chatClient,
      namedClient: undefined,
      header: () => undefined,
      request: chatClient.decodeRequest({ model: 'm', messages: hello }),
    }),
    first,
  );
  t.is(named('chat', { messages: [{ role: 'assistant', content: 'Hi.' }] }), undefined);
});

test('ids of other forms are hashed, so that no text is kept, however long', (t) => {
  for (const id of ['two words', 'ä', 'x'.repeat(101)]) {
    t.regex(named('messages', { messages: hello }, { 'x-claude-code-session-id': id }) ?? '', /^[\w-]{22}$/);
  }
});

test('the tools whose results a request brings are those that the assistant called last', (t) => {
  const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
  const asked = { role: 'user', content: 'Look' };
  const turns = [
    asked,
    { role: 'assistant', content: null, tool_calls: [call('1', 'old')] },
    { role: 'tool', tool_call_id: '1', content: 'a' },
    { role: 'assistant', content: null, tool_calls: [call('2', 'read'), call('3', 'write'), call('4', 'left')] },
    { role: 'tool', tool_call_id: '2', content: 'b' },
    { role: 'tool', tool_call_id: '3', content: 'c' },
  ];
  const toolsOf = (messages: readonly object[]) =>
    answeredTools(chatClient.decodeRequest(JSON.parse(JSON.stringify({ model: 'm', messages }))));
  t.deepEqual(toolsOf(turns), ['read', 'write']);
  t.deepEqual(toolsOf([...turns, { role: 'assistant', content: 'Done.' }, asked]), []);
  t.deepEqual(toolsOf([asked]), []);
});

test('a turn of the user is one that brings more than results of tools; adjacent ones are one', (t) => {
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'read', input: {} }] };
  const result = { type: 'tool_result', tool_use_id: '1', content: 'a' };
  const word = { type: 'text', text: 'And now?' };
  const turnsOf = (messages: readonly object[]) =>
    spokenTurns(messagesClient.decodeRequest(JSON.parse(JSON.stringify({ model: 'm', max_tokens: 9, messages }))));
  t.is(turnsOf(hello), 1);
  t.is(turnsOf([...hello, ...hello]), 1);
  t.is(turnsOf([...hello, call, { role: 'user', content: [result] }]), 1);
  t.is(turnsOf([...hello, call, { role: 'user', content: [result, word] }]), 2);
  t.is(turnsOf([...hello, { role: 'assistant', content: 'Hi.' }, ...hello]), 2);
});

test("a folder has one secret, which is its owner's alone; without a folder, the process has one", async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-sessions-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const made = sessionSecret(join(home, 'new'))();
  t.is(sessionSecret(join(home, 'new'))(), made);
  const path = join(home, 'new', 'session.key');
  t.is(await readFile(path, 'utf8'), made);
  t.is((await stat(path)).mode & 0o777, 0o600);
  const nowhere = sessionSecret('/dev/null/home');
  t.regex(nowhere(), /^[\da-f]{64}$/);
  t.is(nowhere(), nowhere());
});
