import { aiSdk } from './ai-sdk.ts';
import { aider } from './aider.ts';
import { anthropicSdk } from './anthropic-sdk.ts';
import { antigravity } from './antigravity.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import type { ClientGuide } from './client-guide.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { copilot } from './copilot.ts';
import { curl } from './curl.ts';
import { cline, kilo } from './form-clients.ts';
import { openaiSdk } from './openai-sdk.ts';
import { opencode } from './opencode.ts';
import { zed } from './zed.ts';

/** All client guides, in display order. */
export const clientGuides: readonly ClientGuide[] = [
  claudeCode,
  codex,
  openaiSdk,
  anthropicSdk,
  aiSdk,
  opencode,
  copilot,
  antigravity,
  zed,
  continueDev,
  cline,
  kilo,
  aider,
  claudeDesktop,
  curl,
];
