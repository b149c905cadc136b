import test from 'ava';
import { upstreamUrl } from '../../../engine/upstream/url.ts';

const chat = '/v1/chat/completions';
const gemini = '/v1beta/models/x:streamGenerateContent?alt=sse';

const cases = [
  ['https://h', chat, 'https://h/v1/chat/completions'],
  ['https://h/', chat, 'https://h/v1/chat/completions'],
  ['https://h/v1', chat, 'https://h/v1/chat/completions'],
  ['https://h/v1/', chat, 'https://h/v1/chat/completions'],
  ['https://h//v1//', chat, 'https://h/v1/chat/completions'],
  ['http://127.0.0.1:8080/v1', chat, 'http://127.0.0.1:8080/v1/chat/completions'],
  ['https://h/api/v1', chat, 'https://h/api/v1/chat/completions'],
  ['https://h/openai/v1', chat, 'https://h/openai/v1/chat/completions'],
  ['https://h/prefix', chat, 'https://h/prefix/v1/chat/completions'],
  ['https://h/chat', chat, 'https://h/chat/v1/chat/completions'],
  ['https://h/v4', chat, 'https://h/v4/chat/completions'],
  ['https://h/api/coding/paas/v4/', chat, 'https://h/api/coding/paas/v4/chat/completions'],
  ['https://h/v1beta/openai/', chat, 'https://h/v1beta/openai/chat/completions'],
  ['https://h/v1/chat', chat, 'https://h/v1/chat/completions'],
  ['https://h/v1/chat/completions', chat, 'https://h/v1/chat/completions'],
  ['https://h/v4/chat/completions', chat, 'https://h/v4/chat/completions'],
  ['https://h/chat/completions', chat, 'https://h/chat/completions'],
  ['https://h/v1', '/chat/completions', 'https://h/v1/chat/completions'],
  ['https://h', '/chat/completions', 'https://h/chat/completions'],
  ['https://h', '/api/v1/chat/completions', 'https://h/api/v1/chat/completions'],
  ['https://h/api/v1', '/api/v1/chat/completions', 'https://h/api/v1/chat/completions'],
  ['https://h/v2', '/api/v1/chat/completions', 'https://h/v2/chat/completions'],
  ['https://h/openai?api-version=2024-10-21', chat, 'https://h/openai/v1/chat/completions?api-version=2024-10-21'],
  [
    'https://h/deployments/d/chat/completions?api-version=1',
    chat,
    'https://h/deployments/d/chat/completions?api-version=1',
  ],
  ['https://h', '/v1/messages', 'https://h/v1/messages'],
  ['https://h/anthropic', '/v1/messages', 'https://h/anthropic/v1/messages'],
  ['https://h/v1/messages', '/v1/messages', 'https://h/v1/messages'],
  ['https://h/v1/responses', '/v1/responses', 'https://h/v1/responses'],
  ['https://h', gemini, 'https://h/v1beta/models/x:streamGenerateContent?alt=sse'],
  ['https://h/v1beta', gemini, 'https://h/v1beta/models/x:streamGenerateContent?alt=sse'],
  ['https://h/v1beta/models/', gemini, 'https://h/v1beta/models/x:streamGenerateContent?alt=sse'],
  ['https://h/v1', gemini, 'https://h/v1/models/x:streamGenerateContent?alt=sse'],
  ['https://h/v1/models', gemini, 'https://h/v1/models/x:streamGenerateContent?alt=sse'],
  ['https://h?key=a&alt=json', gemini, 'https://h/v1beta/models/x:streamGenerateContent?key=a&alt=sse'],
  ['https://h/a%20b/v1', chat, 'https://h/a%20b/v1/chat/completions'],
  ['https://h/v1#part', chat, 'https://h/v1/chat/completions'],
  ['https://h', '/v1beta/models/a%2Fb:generateContent', 'https://h/v1beta/models/a%2Fb:generateContent'],
] as const;

for (const [base, path, expected] of cases) {
  test(`${base} and ${path}`, (t) => {
    const baseUrl = new URL(base);
    t.is(upstreamUrl(baseUrl, path).href, expected);
    t.is(baseUrl.href, new URL(base).href, 'the base itself is untouched');
  });
}
