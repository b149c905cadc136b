import { aiderLauncher } from './aider.ts';
import { claudeLauncher } from './claude-code.ts';
import { codexLauncher } from './codex.ts';
import type { Launcher } from './launcher.ts';

/** A way to log in that is chosen in its settings would win over the variables. */
const qwen: Launcher = {
  launch: ({ args }) => (args.some((arg) => arg.startsWith('--auth-type')) ? args : ['--auth-type', 'openai', ...args]),
};

/** The clients that need more than their variables, by name. */
export const launchers: Readonly<Record<string, Launcher>> = {
  'claude-code': claudeLauncher,
  codex: codexLauncher,
  aider: aiderLauncher,
  qwen,
};
