const dollars = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});
const cents = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });

/** Billionths of a USD below which a cost has no figures. */
const least = 1e5;

/** A cost in billionths of a USD: `<$0.0001`, `$0.0298`, `$1,234.50`. */
export const usd = (nanoDollars: number): string => {
  if (nanoDollars > 0 && nanoDollars < least) return `<${dollars.format(least / 1e9)}`;
  return (nanoDollars < 1e9 ? dollars : cents).format(nanoDollars / 1e9);
};
