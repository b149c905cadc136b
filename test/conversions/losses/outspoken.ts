import type { Leaf } from './leaves.ts';

/** Fields that needn't be sent on nor be recorded. */
interface Exception {
  readonly path: RegExp;
  readonly when?: (value: Leaf['value']) => boolean;
  readonly why: string;
}

const hostedNames: readonly Leaf['value'][] = ['web_search', 'web_fetch', 'code_execution'];

const exceptions: readonly Exception[] = [
  { path: /^model$/, why: 'routing puts the upstream’s model in its place' },
  { path: /^stream$/, why: 'the gateway gives the client a stream or not; some upstreams are told by the URL' },
  { path: /^stream_options\.include_usage$/, why: 'the gateway asks for usage itself and shows it to who wants it' },
  {
    path: /^input\[\d+\]\.tools\[.*\.defer_loading$/,
    why: 'an item’s tools may be called from there on, so nothing of theirs is deferred',
  },
  { path: /\.type$/, why: 'tells what an object is; what stands in its place upstream tells so in its own way' },
  { path: /\.media_type$/, when: (value) => value === 'text/plain', why: 'the one type that a text has' },
  {
    path: /^tools\[\d+\]\.name$/,
    when: (value) => hostedNames.includes(value),
    why: 'the name of a tool of the vendor’s follows from its type',
  },
  {
    path: /^(?:messages|input)\[\d+\]\.role$/,
    when: (value) => value === 'system' || value === 'developer',
    why: 'two words for instructions; which one is the right one is the upstream’s matter',
  },
];

/** Whether nothing is lost by not sending this leaf. An empty object or list asks for nothing. */
export const isOutspoken = ({ path, value }: Leaf): boolean =>
  typeof value === 'object' || exceptions.some((row) => row.path.test(path) && (row.when?.(value) ?? true));
