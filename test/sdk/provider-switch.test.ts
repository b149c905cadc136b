import test from 'ava';
import { lanes } from '../support/faults/lanes.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chatSdk, messagesSdk, responsesSdk, type SdkClient } from '../support/sdk-clients.ts';
import type { ScriptedUpstream } from '../support/upstreams/upstream.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { deepseekVendor } from '../support/vendors/deepseek.ts';
import { geminiVendor } from '../support/vendors/gemini.ts';
import { groqVendor } from '../support/vendors/groq.ts';
import { messagesVendor } from '../support/vendors/messages.ts';
import { openrouterVendor } from '../support/vendors/openrouter.ts';
import { otherAccount } from '../support/vendors/other-account.ts';
import { responsesVendor } from '../support/vendors/responses.ts';
import { thought } from '../support/vendors/script.ts';
import { serveVendor } from '../support/vendors/serve-vendor.ts';
import type { Vendor } from '../support/vendors/vendor.ts';

/**
 * Conversations of the real SDKs, with tools and reasoning, that start at one provider, go on at another in the middle of a
 * tool loop, and come back. Every vendor refuses what it didn't seal itself, and tool loops that lack what it wants back.
 */
const sdks: Readonly<Record<string, SdkClient>> = { messages: messagesSdk, chat: chatSdk, responses: responsesSdk };

interface Provider {
  readonly serve: () => Promise<ScriptedUpstream>;
  readonly payload: string;
  readonly format: string;
  readonly options?: object;
  readonly base?: string;
  readonly model: string;
}

const provider = <Body>(vendor: Vendor<Body>, more: Omit<Provider, 'serve' | 'payload'>): Provider => ({
  serve: () => serveVendor(vendor, 'key'),
  payload: vendor.payload,
  ...more,
});

const claude = { format: 'anthropic', model: 'claude-sonnet-4-5' };
const gpt = { format: 'openai', options: { api: 'responses', fullResponses: true }, model: 'gpt-5.1' };
const router = { format: 'openrouter', base: '/api/v1', model: 'anthropic/claude-sonnet-4.5' };
const gemini = { format: 'gemini', model: 'gemini-3-flash-preview' };

const providers: Readonly<Record<string, Provider>> = {
  anthropic: provider(messagesVendor, claude),
  'look-alike': provider(otherAccount(messagesVendor, 'EqQBCgIYAhIMlook/alike/signature=='), claude),
  responses: provider(responsesVendor, gpt),
  'responses two': provider(otherAccount(responsesVendor, 'gAAAAABother/account/payload=='), gpt),
  openrouter: provider(openrouterVendor, router),
  'openrouter two': provider(otherAccount(openrouterVendor, 'ErUBCkYICRgCIkA+second/router=='), router),
  gemini: provider(geminiVendor, gemini),
  'gemini two': provider(otherAccount(geminiVendor, 'CiQBjz1rX2other+account/signature=='), gemini),
  deepseek: provider(deepseekVendor, { format: 'deepseek', model: 'deepseek-v4-flash' }),
  groq: provider(groqVendor, { format: 'groq', base: '/openai/v1', model: 'openai/gpt-oss-120b' }),
  openai: provider(chatVendor, { format: 'openai', model: 'model-x' }),
};

let gateway: TestGateway;
let vendors: Readonly<Record<string, ScriptedUpstream>> = {};

test.before(async () => {
  const served = Object.entries(providers).map(async ([name, { serve }]) => [name, await serve()] as const);
  vendors = Object.fromEntries(await Promise.all(served));
  const rows = Object.entries(providers).map(([name, row]) => ({ name, url: vendors[name]?.url ?? '', ...row }));
  gateway = await startGateway({
    LOG: false,
    Providers: rows.map(({ name, url, base = '', model }) => ({
      name,
      baseUrl: `${url}${base}`,
      apiKey: 'key',
      models: [model],
    })),
    transformers: rows.map(({ name, format, options }) => ({
      name: format,
      provider: name,
      ...(options && { options }),
    })),
  });
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
});

const tools = ['get_weather', 'get_time'];
const told = 'The tools said: sunny';

/** All conversations at once would end together, after a time in which the runner sees no test end. */
const turn = lanes(4);

/** The first of two accounts of one provider, which alone tells them apart. */
const firstOf = (name: string): string => (name === 'look-alike' ? 'anthropic' : name.replace(/ two$/, ''));

/** The second account of a provider meets the first one only: to itself and to the other providers both are the same. */
const meet = (one: string, other: string): boolean =>
  (firstOf(one) === one && firstOf(other) === other) || (one !== other && firstOf(one) === firstOf(other));

for (const [client, sdk] of Object.entries(sdks)) {
  for (const [start, first] of Object.entries(providers)) {
    for (const forgets of [false, true]) {
      const title = `${client}${forgets ? ' that forgets reasoning' : ''}: from ${start} to another, and back`;
      test(title, (t) =>
        turn(async () => {
          for (const [other, second] of Object.entries(providers).filter(([name]) => meet(start, name))) {
            const mark = `${title} ${other}`;
            const earlier = new Map(Object.entries(vendors).map(([name, { requests }]) => [name, requests.length]));
            const conversation = sdk(gateway.baseUrl, `${start},${first.model}`, forgets);
            const go = { stream: !forgets, tools, think: true };
            const there = { ...go, model: `${other},${second.model}` };
            const asked = await conversation.ask({ ...go, text: `think and use the tool, ${mark}` });
            t.is(asked.calls.length, 1, mark);
            // In the middle of the loop: the other provider didn't make this call.
            t.is((await conversation.give(['sunny'], { ...there, text: '' })).text, told, mark);
            t.is((await conversation.ask({ ...there, text: 'think and use the tool' })).calls.length, 1, mark);
            t.is((await conversation.give(['sunny'], { ...there, text: '' })).text, told, mark);
            t.is((await conversation.ask({ ...there, text: 'think and use the tool' })).calls.length, 1, mark);
            // And back in the middle of the next one.
            t.is((await conversation.give(['sunny'], { ...go, text: '' })).text, told, mark);
            t.is((await conversation.ask({ ...go, text: 'think and use the tool' })).calls.length, 1, mark);
            t.is((await conversation.give(['sunny'], { ...go, text: '' })).text, told, mark);

            const sent = (name: string) =>
              (vendors[name]?.requests ?? []).slice(earlier.get(name)).filter(({ text }) => text.includes(mark));
            const own = sent(start).at(-1)?.text ?? '';
            if (wantsBack(start))
              t.true(own.includes(JSON.stringify(first.payload)), `${mark}: its own payload came back`);
            t.false(own.includes('sy1.'), mark);
            if (other === start) continue;
            t.false(
              sent(start).some(({ text }) => carries(text, second.payload)),
              `${mark}: the other's payload`,
            );
            t.false(
              sent(other).some(({ text }) => carries(text, first.payload) || text.includes('sy1.')),
              mark,
            );
          }
        }),
      );
    }
  }
}

/** Vendors whose reasoning has a payload, or must come back as it was. */
const wantsBack = (name: string): boolean => !['groq', 'openai'].includes(name);

/** Readable reasoning is nobody's seal. */
const carries = (text: string, payload: string): boolean =>
  payload !== thought && payload !== '' && text.includes(payload);
