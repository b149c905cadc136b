import { anthropic } from './anthropic.ts';
import { claudeCode } from './claude-code.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { openai } from './openai.ts';

/** The programs that can be pointed at the gateway. */
export const clients: readonly Client[] = [claudeCode, codex, openai, anthropic];

/** Those whose variables serve any program that isn't in the table: what it doesn't read does no harm. */
export const plainClients: readonly Client[] = [openai, anthropic];

export { olderGateway } from './older-gateway.ts';
