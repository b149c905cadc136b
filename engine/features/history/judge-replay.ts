import { Buffer } from 'node:buffer';
import { type Grammar, sayViolation, type Violation, violationsIn } from '../../model/grammar.ts';
import type { ClientProtocol } from '../../model/protocol.ts';
import type { Plan } from '../../routing/plan/plan.ts';

/** Violations of its wire format: a line for each rule. */
interface Judgement {
  readonly provider: readonly string[];
  /** Of what the client gets, unless it is the provider's own answer, relayed. */
  readonly client: readonly string[];
}

/** Judges a provider's answer, and what a client gets of it. */
export const judgeReplay = (
  { upstream, graph }: Pick<Plan, 'upstream' | 'graph'>,
  { grammar }: Pick<ClientProtocol, 'grammar'>,
  answer: Uint8Array,
  reply: string,
): Judgement => ({
  provider: brokenRules(upstream.grammar, answer),
  client: graph.replyRelay.open ? [] : brokenRules(grammar, Buffer.from(reply)),
});

const brokenRules = (grammar: Grammar, bytes: Uint8Array): readonly string[] => {
  const byRule = new Map<string, { readonly first: Violation; count: number }>();
  for (const violation of violationsIn(grammar, bytes)) {
    const known = byRule.get(violation.rule);
    if (known) known.count += 1;
    else byRule.set(violation.rule, { first: violation, count: 1 });
  }
  return [...byRule.values()].map(({ first, count }) => `${sayViolation(first)}${count > 1 ? `, ${count} times` : ''}`);
};
