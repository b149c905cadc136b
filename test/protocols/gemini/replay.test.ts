import test from 'ava';
import fc from 'fast-check';
import { type ModelEvent, promptTokens } from '../../../engine/model/event.ts';
import { isJsonObject } from '../../../engine/model/json/json.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents, eventsOf } from '../../support/events.ts';
import { expectedFacts, type Fixture, factsOf, fixtures, objects } from './fixtures.ts';

const { decodeStream, decodeReply } = geminiUpstream();

const eventsOfWhole = ({ streamed, bytes }: Fixture): ModelEvent[] => {
  if (streamed) return eventsOf(decodeStream, [bytes]);
  const body = JSON.parse(new TextDecoder().decode(bytes));
  return decodeReply(isJsonObject(body) ? body : {}, replyContext());
};

const answered = fixtures.filter(({ status }) => status === 200);

test('the recordings were found', (t) => t.is(fixtures.length, 23));

for (const fixture of answered) {
  test(`${fixture.name}: the recorded facts`, (t) => {
    const events = eventsOfWhole(fixture);
    t.notThrows(() => checkEvents(events));
    t.deepEqual(factsOf(events), expectedFacts(fixture.expected));
  });

  test(`${fixture.name}: how it ended, and what it cost`, (t) => {
    const last = eventsOfWhole(fixture).at(-1);
    if (last?.type !== 'message-stop') return t.fail(`ends with ${last?.type}`);
    const { tool_calls: calls, stop_reason: word, usage } = fixture.expected;
    const wanted = new Map([
      ['STOP', 'end'],
      ['MAX_TOKENS', 'length'],
      ['SAFETY', 'filtered'],
      ['null', 'filtered'],
    ]);
    t.is(String(last.finish), objects(calls).length > 0 ? 'tool-call' : (wanted.get(String(word)) ?? ''));
    const counts = isJsonObject(usage) ? usage : {};
    const count = (name: string): number => Number(counts[name] ?? 0);
    t.is(promptTokens(last.usage), count('promptTokenCount') + count('toolUsePromptTokenCount'));
    t.is(last.usage.cacheRead ?? 0, count('cachedContentTokenCount'));
    t.is(last.usage.output ?? 0, count('candidatesTokenCount') + count('thoughtsTokenCount'));
    t.is(last.usage.reasoning ?? 0, count('thoughtsTokenCount'));
  });
}

for (const fixture of answered.filter(({ streamed }) => streamed)) {
  const { bytes } = fixture;
  const whole = eventsOfWhole(fixture);

  test(`${fixture.name}: byte by byte gives the same events`, (t) => {
    const pieces = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    t.deepEqual(eventsOf(decodeStream, pieces), whole);
  });

  test(`${fixture.name}: any split gives the same events`, (t) => {
    const cuts = fc.uniqueArray(fc.nat(bytes.length), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (places) => {
        const at = [0, ...places.sort((one, other) => one - other), bytes.length];
        const pieces = at.slice(1).map((to, index) => bytes.subarray(at[index], to));
        t.deepEqual(eventsOf(decodeStream, pieces), whole);
      }),
      { numRuns: 15 },
    );
  });

  test(`${fixture.name}: cut off before its end it is an error, in a legal order`, (t) => {
    const records = new TextDecoder().decode(bytes).split('\r\n\r\n').filter(Boolean);
    for (let kept = 0; kept < Math.max(records.length - 1, 1); kept += 1) {
      const part = new TextEncoder().encode(
        records
          .slice(0, kept)
          .map((record) => `${record}\r\n\r\n`)
          .join(''),
      );
      const events = eventsOf(decodeStream, [part]);
      t.notThrows(() => checkEvents(events));
      const last = events.at(-1);
      t.is(last?.type === 'error' ? last.fault.kind : last?.type, 'upstream-cut', `after ${kept} records`);
    }
  });

  test(`${fixture.name}: all its bodies in one array give the same events`, (t) => {
    const records = new TextDecoder().decode(bytes).split('\r\n\r\n').filter(Boolean);
    const array = `data: [${records.map((record) => record.slice('data: '.length)).join(',')}]\n\n`;
    t.deepEqual(eventsOf(decodeStream, [new TextEncoder().encode(array)]), whole);
  });
}
