import { useMemo } from 'react';
import { readConfigSchema } from '../api/config/config.ts';
import type { JsonObject } from '../api/json.ts';
import { useLoad } from '../api/use-load.ts';
import { settingsOf } from './settings-of.ts';

/** The settings in the gateway's schema; none before it is there. */
export const useSettings = (): JsonObject => {
  const { data } = useLoad(readConfigSchema);
  return useMemo(() => settingsOf(data ?? {}), [data]);
};
