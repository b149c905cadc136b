import { aider } from './aider.ts';
import { antigravity } from './antigravity.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cline, zed } from './editors.ts';
import { opencode } from './opencode.ts';
import { kimi, qwen } from './qwen-kimi.ts';
import { anthropic, openai } from './sdks.ts';

/** All known clients. */
export const clients: readonly Client[] = [
  claudeCode,
  codex,
  opencode,
  copilot,
  qwen,
  kimi,
  antigravity,
  aider,
  cline,
  zed,
  claudeDesktop,
  openai,
  anthropic,
];

/** Clients whose variables are set for an unknown program; variables it doesn't read are harmless. */
export const plainClients: readonly Client[] = [openai, anthropic];

/** Output syntaxes that `junctor env --shell` accepts. */
export const shells = ['posix', 'fish', 'powershell', 'json'] as const;
