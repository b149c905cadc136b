import test from 'ava';
import { maskUrl, textMask } from '../../../engine/log/mask-text.ts';

const none: readonly string[] = [];
const mask = textMask(() => none);

const cases = [
  ['/v1/messages', '/v1/messages'],
  ['/v1/messages?beta=true', '/v1/messages?beta=true'],
  ['/x?api_key=abc&beta=true', '/x?api_key=***&beta=true'],
  ['/x?a=1&api%5Fkey=abc', '/x?a=1&api%5Fkey=***'],
  ['/x?%E0%A4%A=1&token=abc', '/x?%E0%A4%A=1&token=***'],
  ['/x?a=1;token=abc=def', '/x?a=1;token=***'],
  ['/x?access_token=a+b', '/x?access_token=***'],
  ['/x?q=sk-0123456789', '/x?q=***'],
  ['/sk-0123456789/x', '/***/x'],
  ['/x?', '/x?'],
  ['/x?token', '/x?token'],
  ['/x?token=', '/x?token='],
  ['/x?==token=abc&=&;=', '/x?==token=***&=&;='],
] as const;
for (const [url, clean] of cases) test(url, (t) => t.is(maskUrl(url, mask), clean));
