import { aider, antigravity, copilot, kimi, qwen } from './agents.ts';
import { claudeCode, claudeDesktop } from './claude.ts';
import { codex } from './codex.ts';
import { cline, continueDev, kilo, zed } from './editors.ts';
import { opencode } from './opencode.ts';
import { aiSdk, anthropic, curl, openai } from './sdks.ts';
import type { ClientTool } from './tool.ts';

/** The client programs whose set-up is known, in the order in which they are shown. */
export const clientTools: readonly ClientTool[] = [
  claudeCode,
  codex,
  opencode,
  copilot,
  qwen,
  kimi,
  antigravity,
  aider,
  cline,
  kilo,
  zed,
  continueDev,
  claudeDesktop,
  openai,
  anthropic,
  aiSdk,
  curl,
];

/** Tools whose variables are set for an unknown program; variables it doesn't read are harmless. */
export const plainTools: readonly ClientTool[] = [openai, anthropic];
