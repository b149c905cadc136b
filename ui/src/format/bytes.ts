const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size, short: `512 B`, `1.4 MiB`. */
export const bytes = (size: number): string => {
  const power = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(size) / 10));
  const value = size / 1024 ** power;
  return `${power === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
};
