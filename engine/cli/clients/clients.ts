import { claudeCode } from './claude-code.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { anthropic, openai } from './sdks.ts';

/** All known clients. */
export const clients: readonly Client[] = [claudeCode, codex, openai, anthropic];

/** Clients whose variables are set for an unknown program; variables it doesn't read are harmless. */
export const plainClients: readonly Client[] = [openai, anthropic];

/** Output syntaxes that `switchyard env --shell` accepts. */
export const shells = ['posix', 'fish', 'powershell', 'json'] as const;
