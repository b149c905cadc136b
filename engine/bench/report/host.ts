import { cpus, release, totalmem, type } from 'node:os';
import { askedNode, type ChosenServer } from '../../http/choose-server.ts';
import { serverName } from '../listen.ts';
import type { Scene } from '../scenes/scene.ts';

/** Where a run took place. */
export interface Host {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** The HTTP server of gateway and bare stack. */
  readonly server: string;
}

/** This machine. */
export const thisHost = (): Host => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1e9),
  system: `${type()} ${release()}`,
  node: process.versions.node,
  server: serverName(),
});

/**
 * Why these scenes aren't measured with this server; `undefined`: they may be. `node:http`, which costs half as much again, serves without
 * being asked for where the packages were installed for another Node.js release.
 */
export const whyUnasked = (
  { facts }: Pick<ChosenServer, 'facts'>,
  scenes: readonly Pick<Scene, 'simulatesSockets'>[],
): string | undefined =>
  facts.server === 'node' &&
  facts.reason !== askedNode &&
  scenes.some(({ simulatesSockets = false }) => !simulatesSockets)
    ? `node:http would serve. ${facts.reason}${facts.reason.endsWith('.') ? '' : '.'} To measure it anyway, set ${askedNode}.`
    : undefined;

/** In one line. The processes of a run aren't bound to cores. */
export const wordHost = ({ cpu, cores, memoryGb, system, node, server }: Host): string =>
  `Node ${node}, ${server}, ${cpu}, ${cores} cores shared by gateway, load generator and upstream, ${memoryGb} GB, ${system}`;
