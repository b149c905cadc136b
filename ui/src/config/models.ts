import type { ProviderFile } from '../api/config/config.ts';
import type { Json } from '../api/json.ts';
import { withMember } from './fields/field-path.ts';

/** An element of a provider's `models`: a name, or an object with more. */
type ModelFile = NonNullable<ProviderFile['models']>[number];

const modelName = (model: ModelFile): string => (typeof model === 'string' ? model : (model.name ?? ''));

/** The names of a provider's models. */
export const modelNames = ({ models = [] }: ProviderFile): readonly string[] => models.map(modelName);

/** Models of these names; those that the provider has keep what else they say. */
export const withNames = ({ models = [] }: ProviderFile, names: readonly string[]): readonly ModelFile[] =>
  names.map((name) => models.find((model) => modelName(model) === name) ?? name);

/** A model with this member; a name alone once it has no other. */
export const withModelMember = (model: ModelFile, member: string, value: Json | undefined): ModelFile => {
  const next = withMember(typeof model === 'string' ? { name: model } : model, member, value);
  return Object.keys(next).every((key) => key === 'name') ? modelName(next) : next;
};

/** Names in a list that is typed, separated by commas. Keeps a trailing comma, so that it can be typed. */
export const splitNames = (text: string): readonly string[] => (text.trim() === '' ? [] : text.split(/,\s*/));
