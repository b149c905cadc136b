import type { LaneGroup } from './lane.ts';
import { scenes, scenesNamed } from './scenes/index.ts';
import { lanesOf } from './scenes/lanes.ts';
import type { Scene, Settings } from './scenes/scene.ts';
import { ablatedTargets, ablations } from './targets/ablations.ts';
import { captureLanes } from './targets/capture.ts';
import { type Configured, configuredLanes, configuredTarget } from './targets/configured.ts';
import { findTarget } from './targets/find-target.ts';
import { staged } from './targets/staged.ts';
import type { Target } from './targets/target.ts';
import { allPairs, type ClientWire, clientWires, type Pair, pairNamed, pairs } from './wire.ts';

/** The options of `junctor bench`, as typed. */
export interface BenchOptions {
  readonly quick?: boolean;
  readonly all?: boolean;
  readonly list?: boolean;
  readonly sweep?: boolean;
  readonly publish?: boolean;
  readonly pairs?: string;
  readonly gateways?: string;
  readonly ablate?: string;
  readonly stage?: string;
  readonly options?: string;
  readonly capture?: string;
  readonly target?: string;
  readonly requests?: string;
  readonly client?: string;
  readonly model?: string;
  readonly keyVariable?: string;
  readonly compare?: string;
  readonly failOver?: string;
  readonly rounds?: string;
  readonly roundMs?: string;
  readonly json?: string;
  readonly html?: string;
}

/** What a run was asked to do. */
export interface Plan {
  readonly scenes: readonly Scene[];
  readonly settings: Settings;
  /** Every column, and the costs in words. */
  readonly all: boolean;
  /** The stage whose cost is asked for. */
  readonly stage: string | undefined;
  readonly files: {
    readonly json: string | undefined;
    readonly html: string | undefined;
    /** Figures of an earlier run. */
    readonly compare: string | undefined;
  };
  /** The figures go into the README and the docs of this checkout, if they can be published. */
  readonly publish: boolean;
  /** More than so many times the processor time is a failure. */
  readonly failOver: number | undefined;
}

/** A run against an address. */
export interface RemotePlan {
  readonly url: URL;
  readonly requests: number;
  readonly client: ClientWire;
  readonly model: string | undefined;
  /** Name of the variable that holds the key. */
  readonly keyVariable: string;
}

/** Reads the options of a run against this package, or other gateways on this machine. Rejects with an error worded for users. */
export const readOptions = async (
  names: readonly string[],
  options: BenchOptions,
  configured?: Configured,
): Promise<Plan> => {
  const { quick = false, publish = false, ablate, gateways, stage, capture, compare } = options;
  if (quick && publish) throw new Error('--publish needs a full run: leave --quick out.');
  const chosen = Object.entries({
    '--ablate': ablate,
    '--gateways': gateways,
    '--stage': stage,
    '--config': configured,
  })
    .filter(([, given]) => given !== undefined)
    .map(([option]) => option);
  const alone = chosen.filter((option) => option === '--ablate' || option === '--gateways');
  if (alone.length > 0 && chosen.length > 1)
    throw new Error(`${chosen.join(' and ')} each choose the gateways: leave all but one out.`);
  if (names.length > 0 && (stage !== undefined || configured || capture !== undefined))
    throw new Error('With --config, --stage or --capture, the scene is `pairs`: leave the names of scenes out.');
  const failOver = numberIn('--fail-over', options.failOver, 1, 100);
  if (failOver !== undefined && compare === undefined && stage === undefined && gateways === undefined)
    throw new Error('--fail-over needs something to compare with: --compare, --stage or --gateways.');
  const named = options.pairs?.split(',').map(pairNamed);
  // What is asked of a stage is an interval.
  const usual = stage === undefined ? undefined : quick ? 5 : 9;
  const rounds = wholeIn('--rounds', options.rounds, 1, 100) ?? usual;
  const roundMs = wholeIn('--round-ms', options.roundMs, 20, 60_000);
  const lanes = await lanesFor({ quick, named, stage, capture }, configured);
  const { targets, check } = await targetsFor(options, configured);
  return {
    scenes: scenesNamed(namesFor(names, options)),
    settings: {
      pairs: named ?? (ablate === undefined ? pairs : pairs.slice(0, quick ? 1 : 2)),
      targets,
      quick,
      ...(rounds !== undefined && { rounds }),
      ...(roundMs !== undefined && { roundMs }),
      ...(lanes && { lanes }),
      ...((check || capture !== undefined) && { check: 'form' }),
    },
    all: options.all ?? false,
    stage,
    files: { json: options.json, html: options.html, compare },
    publish,
    failOver,
  };
};

/** Scenes of a run that names none. */
const namesFor = (names: readonly string[], { ablate, sweep, publish }: BenchOptions): readonly string[] => {
  if (names.length > 0) return sweep ? [...names, 'sweep'] : names;
  if (sweep) return ['sweep'];
  if (publish) return scenes.filter(({ name }) => name !== 'sweep').map(({ name }) => name);
  return [ablate === undefined ? 'pairs' : 'plain-64'];
};

interface Choice {
  readonly quick: boolean;
  readonly named: readonly Pair[] | undefined;
  readonly stage: string | undefined;
  readonly capture: string | undefined;
}

const lanesFor = async (
  { quick, named, stage, capture }: Choice,
  configured: Configured | undefined,
): Promise<readonly LaneGroup[] | undefined> => {
  if (capture !== undefined) return captureLanes(capture, configured);
  if (configured)
    return configuredLanes(
      configured,
      named?.map(({ client }) => client),
    );
  return stage === undefined ? undefined : lanesOf(named ?? [pairs[0]], quick);
};

const targetsFor = async (
  { ablate, gateways, stage, options }: BenchOptions,
  configured: Configured | undefined,
): Promise<{ readonly targets: readonly Target[]; readonly check: boolean }> => {
  if (ablate !== undefined) return { targets: ablatedTargets(ablate.split(',')), check: false };
  if (stage !== undefined) return { targets: staged(stage, options, configured), check: true };
  // Custom transformers, and what the user's fallbacks and rules do, may change the text.
  if (configured) return { targets: [configuredTarget('junctor', configured)], check: true };
  return { targets: await Promise.all((gateways ?? 'junctor').split(',').map(findTarget)), check: false };
};

/** Reads the options of a run against an address. Throws an error worded for users. */
export const readRemote = (names: readonly string[], target: string, options: BenchOptions): RemotePlan => {
  const known = new Set(['target', 'requests', 'client', 'model', 'keyVariable', 'json', 'html', 'all']);
  const [other] = Object.keys(options).filter((name) => !known.has(name));
  if (names.length > 0 || other !== undefined)
    throw new Error(
      `--target takes none of the scenes, and not --${other ?? names[0]}: what is there can't be started.`,
    );
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error('--target must be an address such as http://127.0.0.1:8080.');
  const client = clientWires.find((wire) => wire === (options.client ?? 'chat'));
  if (!client) throw new Error(`--client must be one of ${clientWires.join(', ')}.`);
  return {
    url,
    requests: wholeIn('--requests', options.requests, 1, 1_000_000) ?? 20,
    client,
    model: options.model,
    keyVariable: options.keyVariable ?? 'BENCH_KEY',
  };
};

const numberIn = (option: string, text: string | undefined, least: number, most: number): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== '' && number >= least && number <= most) return number;
  throw new Error(`${option} must be a number from ${least} to ${most}.`);
};

const wholeIn = (option: string, text: string | undefined, least: number, most: number): number | undefined => {
  const number = numberIn(option, text, least, most);
  if (number === undefined || Number.isInteger(number)) return number;
  throw new Error(`${option} must be a whole number.`);
};

/** What can be named. */
export const wordNames = (): string => `scenes
${scenes.map(({ name, groups, about }) => `  ${name.padEnd(12)} ${about}${groups.length > 0 ? ` (${groups.join(', ')})` : ''}`).join('\n')}

pairs
  ${allPairs.map(({ name }) => name.replace('→', '-')).join(', ')}

--ablate all, or
${ablations.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}`;
