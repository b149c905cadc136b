import test from 'ava';
import { deviationsIn, examineAt, healedBy, sourceOf } from '../../support/examined.ts';
import { hostVendor } from '../../support/hosts/host-vendor.ts';
import { type StrictHost, strictHosts } from '../../support/hosts/hosts.ts';
import { refusingHosts } from '../../support/hosts/refusing-hosts.ts';
import { lenientHosts, windowedHosts } from '../../support/hosts/windowed-hosts.ts';
import { serveVendor } from '../../support/vendors/serve-vendor.ts';

/** The check that sends a member; absent: none does, as clients alone have it. */
const checkOf: Readonly<Record<string, RegExp>> = {
  temperature: /^temperature$/,
  top_p: /^two sampling fields$/,
  'generationConfig.topP': /^two sampling fields$/,
  'stop.0': /^stop words$/,
  'stop_sequences.0': /^stop words$/,
  parallel_tool_calls: /^one at a time$/,
  'tool_choice.disable_parallel_tool_use': /^one at a time$/,
  presence_penalty: /^penalty$/,
  reasoning_effort: /^(?:effort|reasoning off)/,
  'reasoning.effort': /^(?:effort|reasoning off)/,
  'output_config.effort': /^effort/,
  'generationConfig.thinkingConfig.thinkingLevel': /^effort/,
  'output limit': /^output limit$/,
};

/** What the check doesn't ask for as its client does. */
const unasked: ReadonlySet<string> = new Set([
  // The format asks this host for efforts that it knows.
  'ollama: an effort',
  // Only above 1.
  'dashscope: a high temperature',
  // A limit of the plan: the answer is asked for without one.
  'a plan of openai: an output limit',
]);

for (const [name, { serve, provider, becomes }] of Object.entries(refusingHosts)) {
  test(`${name}: it is named, and what heals it does`, async (t) => {
    const upstream = await serve('the-secret-key');
    t.teardown(upstream.close);
    const { format, options, base = '', model } = provider;
    const source = sourceOf({ baseUrl: upstream.url + base, format, options, model });
    const found = await examineAt(t, source, model);
    const again = await examineAt(t, healedBy(source, model, found), model);

    const deviating = found.findings.filter(({ verdict }) => verdict.type === 'deviation');
    const planted = Object.keys(becomes).flatMap((member) => checkOf[member] ?? []);
    const named = deviating.filter((finding) => planted.some((check) => check.test(finding.name)));
    if (planted.length > 0 && !unasked.has(name)) t.true(named.length > 0, JSON.stringify(deviationsIn(found)));
    for (const { name: check, cure, isLearned } of named) t.true(cure !== undefined || isLearned, check);
    t.deepEqual(
      Object.keys(deviationsIn(again)),
      deviating.filter(({ cure }) => !cure).map((finding) => finding.name),
    );
  });
}

for (const [name, { serve, provider }] of Object.entries({ ...windowedHosts, ...lenientHosts })) {
  test(`${name}: its window is read in its words`, async (t) => {
    const upstream = await serve('the-secret-key');
    t.teardown(upstream.close);
    const { format, options, base = '', model } = provider;
    const found = await examineAt(t, sourceOf({ baseUrl: upstream.url + base, format, options, model }), model);
    const verdict = found.findings.find((finding) => finding.name === 'output limit')?.verdict;
    // Asked for more than its window, it would say so in other words.
    if (name === 'vllm 0.20, asked for nearly all') return t.is(verdict?.type, 'deviation');
    t.is(verdict?.type, 'sound');
    t.regex(verdict?.detail ?? '', name in windowedHosts ? /^a window of \d+ tokens/ : /^$/);
  });
}

/** What hosts refuse that the gateway doesn't know by their address, and what no setting heals. */
const strict: Readonly<Record<string, { readonly names: readonly string[]; readonly stays?: readonly string[] }>> = {
  cerebras: { names: ['forced tool', 'one at a time', 'penalty'] },
  dashscope: { names: ['forced tool', 'effort max'] },
  "gemini's door": { names: ['long ids', 'penalty'], stays: ['long ids'] },
  kimi: { names: ['tool loop'] },
  'lm studio': { names: ['forced tool', 'effort max'] },
  // The simulated one counts nothing unless it is asked to, and refuses to be asked.
  mistral: { names: ['stream', 'usage', 'effort low'], stays: ['usage'] },
  nim: { names: ['strict tool', 'effort low'] },
  sglang: { names: ['effort max'] },
  together: { names: ['strict tool', 'effort low'] },
  vllm: { names: ['effort max'] },
  'z.ai': { names: ['picture', 'strict tool'] },
};

/** It has paths of its own, which its address alone tells. */
const addressed: ReadonlySet<string> = new Set(['copilot']);

const hosts: Readonly<Record<string, StrictHost>> = strictHosts;

for (const [name, host] of Object.entries(hosts).filter(([one]) => !addressed.has(one))) {
  test(`strict host ${name}: what it refuses is named, and healed`, async (t) => {
    const upstream = await serveVendor(hostVendor(host), 'the-secret-key');
    t.teardown(upstream.close);
    const { options, baseUrl, model } = host;
    const source = sourceOf({ baseUrl: upstream.url + new URL(baseUrl).pathname, format: 'openai', options, model });
    const found = await examineAt(t, source, model);
    const again = await examineAt(t, healedBy(source, model, found), model);
    const { names, stays = [] } = strict[name] ?? { names: [] };
    t.deepEqual(Object.keys(deviationsIn(found)).sort(), [...names].sort());
    t.deepEqual(Object.keys(deviationsIn(again)), stays);
  });
}
