import { readConfigSchema } from '../api/config/config.ts';
import type { JsonObject } from '../api/json.ts';
import { useLoad } from '../api/use-load.ts';

const none: JsonObject = {};

/** The gateway's schema of the configuration; empty before it is there. */
export const useConfigSchema = (): JsonObject => useLoad(readConfigSchema).data ?? none;
