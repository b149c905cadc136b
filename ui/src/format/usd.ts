const dollars = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});
const cents = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });

/** A cost in billionths of a USD: `$0.0298`, `$1,234.50`. */
export const usd = (nanoDollars: number): string => (nanoDollars < 1e9 ? dollars : cents).format(nanoDollars / 1e9);
