/** The spans of time to choose from. */
export const spans: readonly { readonly value: string; readonly label: string }[] = [
  { value: '', label: 'Any time' },
  { value: '15m', label: 'Last 15 min' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];
