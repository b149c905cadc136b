import { fileURLToPath } from 'node:url';
import { bundle, moduleUrl, root } from '../../paths.ts';
import type { FeatureName } from '../../service/features.ts';
import { junctorWith, ownFolder } from './junctor.ts';
import type { Additions, Target } from './target.ts';

/** Something that is switched off, to see what it costs. */
interface Ablation {
  readonly name: string;
  readonly about: string;
  /** By configuration. */
  readonly additions?: Additions;
  readonly without?: readonly FeatureName[];
  /** By what clients send. */
  readonly headers?: Readonly<Record<string, string>>;
}

const single: readonly Ablation[] = [
  { name: 'history', about: 'the list of requests, its file and its sessions', without: ['history'] },
  { name: 'history-file', about: '`HISTORY.days: 0`: the list alone', additions: { HISTORY: { days: 0 } } },
  {
    name: 'captures',
    about: '`HISTORY.captureFailed: false`: no bodies are held for a capture',
    additions: { HISTORY: { captureFailed: false } },
  },
  {
    name: 'session-hash',
    about: 'clients name their session, so that none is derived (Messages only)',
    headers: { 'x-claude-code-session-id': 'bench' },
  },
  { name: 'log', about: '`LOG: false`: no log lines', additions: { LOG: false } },
  { name: 'request-log', about: "the lines of destinations, without the server's", without: ['requestLog'] },
  { name: 'metrics', about: 'counts of requests', without: ['metrics'] },
];

/** What can be switched off, one at a time, and all at once. */
export const ablations: readonly Ablation[] = [
  ...single,
  {
    name: 'everything',
    about: 'all of these',
    additions: { LOG: false, HISTORY: { days: 0, captureFailed: false } },
    without: single.flatMap(({ without = [] }) => without),
    headers: Object.assign({}, ...single.map(({ headers }) => headers)),
  },
];

/**
 * This checkout with nothing switched off, which the others are compared with, then without each of these; `all` names every one.
 * Throws an error that lists the names if one is unknown. All run the same program.
 */
export const ablatedTargets = (names: readonly string[]): readonly Target[] => {
  const unknown = names.find((name) => name !== 'all' && !ablations.some((each) => each.name === name));
  if (unknown !== undefined) {
    throw new Error(`Nothing is called ${unknown}; there are all, ${ablations.map(({ name }) => name).join(', ')}.`);
  }
  const chosen = ablations.filter(({ name }) => names.includes('all') || names.includes(name));
  return [
    { ...junctorWith('all on', async () => program), own: { folder: ownFolder, additions: {} } },
    ...chosen.map(({ name, additions, without = [], headers = {} }): Target => {
      const target = junctorWith(`without ${name}`, async () => [...program, ...without], additions);
      return {
        ...target,
        start: async (options) => ({ ...(await target.start(options)), headers }),
        own: { folder: ownFolder, additions: additions ?? {}, without },
      };
    }),
  ];
};

/** What Node.js is to run. */
const program: readonly string[] = [
  ...(bundle ? [] : [`--import=${new URL('engine/launch/typescript.js', root).href}`]),
  fileURLToPath(moduleUrl('bench-ablated', 'engine/bench/targets/run-ablated.ts')),
];
