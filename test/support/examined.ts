import type { ExecutionContext } from 'ava';
import { applyChange } from '../../engine/doctor/change.ts';
import { type Examination, examine } from '../../engine/doctor/examine.ts';
import { openPatient } from '../../engine/doctor/patient.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { configOf } from './gateway-of.ts';

/** How a provider is configured, and the address that it is at. */
interface ExaminedProvider {
  readonly baseUrl: string;
  readonly format: string;
  readonly options?: object | undefined;
  readonly model: string;
}

/** A configuration with this provider alone, under the name `p`. */
export const sourceOf = ({ baseUrl, format, options = {}, model }: ExaminedProvider): JsonObject => ({
  Providers: [{ name: 'p', baseUrl, apiKey: 'the-secret-key', models: [model] }],
  transformers: [{ name: format, provider: 'p', options: { ...options } }],
});

/** Examines a provider's model as the command does. */
export const examineAt = async (
  t: ExecutionContext,
  source: JsonObject,
  model: string,
  signal = new AbortController().signal,
): Promise<Examination> => {
  const patient = { provider: 'p', model };
  const options = {
    patient,
    config: configOf(source),
    env: {},
    home: '/nowhere',
    keyCommands: [],
    interrupted: signal,
  };
  const opened = await openPatient(options);
  t.teardown(opened.close);
  return examine({ patient, source, open: opened.open, found: () => undefined });
};

/** What deviates, by check, with what is said of it. */
export const deviationsIn = ({ findings }: Examination): Readonly<Record<string, string>> =>
  Object.fromEntries(
    findings.flatMap(({ name, verdict }) => (verdict.type === 'deviation' ? [[name, verdict.detail]] : [])),
  );

/** The configuration with what heals, as the command writes it. */
export const healedBy = (source: JsonObject, model: string, { changes }: Examination): JsonObject =>
  changes.reduce((before, change) => applyChange(before, { provider: 'p', model }, change), source);
