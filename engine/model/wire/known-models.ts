/**
 * Models whose traits differ from those of their vendor's newest model, mostly by features they lack. A name that no entry
 * matches has all features: the vendor decides.
 */
export interface KnownModels<Traits> {
  /** Matches names from `plainName`. Must be linear: clients choose the names. */
  readonly names: RegExp;
  readonly differ: Partial<Traits>;
}

/** The traits of a model: those of the newest one, overridden by every matching entry in order. */
export const traitsOf = <Traits extends object>(
  newest: Traits,
  known: readonly KnownModels<Traits>[],
  model: string,
): Traits => {
  const name = plainName(model);
  let traits = newest;
  for (const { names, differ } of known) if (names.test(name)) traits = { ...traits, ...differ };
  return traits;
};

/**
 * A model's name as in the tables: lower case, without the prefixes of routers (`vendor/`), fine-tuning (`ft:`) and clouds
 * (`region.vendor.`).
 */
export const plainName = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^ft:/, '')
    .replace(/^(?:[a-z-]+\.)+/, '');
