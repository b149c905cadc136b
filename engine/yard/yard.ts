import type { Config } from '../config/config.ts';
import type { Logs } from '../log/logs.ts';
import type { LossCounter } from '../loss-counter.ts';
import type { UpstreamHealth } from '../retry/upstream-health.ts';
import type { SignatureMemory } from '../signatures/memory.ts';
import type { PromptTokens } from '../tokens/prompt-tokens.ts';
import type { Upstreams } from '../upstream/call.ts';
import { buildLine, type Ends, type Line } from './line.ts';
import type { Tables } from './tables.ts';

/** All that a request needs beside itself: the configuration, compiled, and the edges it acts through. */
export interface Yard {
  readonly config: Config;
  readonly lineTo: (ends: Ends) => Line;
  readonly upstreams: Upstreams;
  readonly tokens: PromptTokens;
  readonly log: Logs['app'];
  /** What is known of reasoning that clients lose on its way back. */
  readonly signatures: SignatureMemory;
  /** How often each field was lost. */
  readonly losses: LossCounter;
  /** What has been learnt of the upstreams. */
  readonly health: UpstreamHealth;
  /** How long a client that streams may hear nothing before a keep-alive is sent, in milliseconds. */
  readonly keepAliveMs: number;
}

/** What a yard acts through; it outlives a change of the configuration. */
export interface Edges {
  readonly upstreams: Upstreams;
  readonly tokens: PromptTokens;
  readonly log: Logs['app'];
  readonly signatures: SignatureMemory;
  readonly losses: LossCounter;
  readonly health: UpstreamHealth;
  readonly keepAliveMs: number;
}

/** How many lines are remembered. Model names come from clients, so their number has no bound of its own. */
const mostLines = 1_000;

/** Compiles a configuration. Lines are built when first asked for. */
export const buildYard = (config: Config, tables: Tables, edges: Edges): Yard => {
  const lines = new Map<string, Line>();
  return {
    ...edges,
    config,
    lineTo(ends) {
      const key = `${ends.client.wire} ${ends.provider.name},${ends.model}`;
      const known = lines.get(key);
      if (known) return known;
      const line = buildLine(config, tables, ends);
      if (lines.size >= mostLines) lines.clear();
      lines.set(key, line);
      return line;
    },
  };
};
