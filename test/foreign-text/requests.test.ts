import test from 'ava';
import { FaultError } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { clientOf, convert, targets } from '../conversions/losses/pairs.ts';
import { growsLinearly } from './cpu.ts';
import { hostileRequests } from './hostile-requests.ts';

const few = 500;
/** What is done sooner, in milliseconds, isn't looked at more closely. */
const soonMs = 40;

/** One model for each way of writing requests. */
const upstreams = ['anthropic claude-sonnet-4-5', 'look-alike', 'gemini gemini-2.0-flash', 'responses gpt-4.1'];
const chosen = targets.filter(({ name }) => upstreams.includes(name));

for (const [wire, bodies] of Object.entries(hostileRequests)) {
  for (const [name, make] of Object.entries(bodies)) {
    test(`${wire}, converted in linear time: ${name}`, (t) => {
      t.is(chosen.length, upstreams.length);
      const client = clientOf(wire);
      const made = new Map<number, JsonObject>();
      const body = (count: number): JsonObject => {
        const known = made.get(count) ?? make(count);
        made.set(count, known);
        return known;
      };
      for (const target of chosen) {
        const { linear, seen } = growsLinearly(
          body,
          (body) => {
            try {
              convert(client, body, target);
            } catch (error) {
              // Some are refused, which must be as quick.
              if (!(error instanceof FaultError)) throw error;
            }
          },
          { few, soonMs },
        );
        t.true(linear, `${target.name}: ${seen}`);
      }
    });
  }
}
