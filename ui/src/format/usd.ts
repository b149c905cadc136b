const dollars = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});

/** A cost in billionths of a USD: `$0.0298`. */
export const usd = (nanoDollars: number): string => dollars.format(nanoDollars / 1e9);
