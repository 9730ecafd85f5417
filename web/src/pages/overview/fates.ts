/** What became of messages, in the order and the words in which the whole page shows it. */
export const FATES = [
  { event: 'delivered', label: 'Delivered' },
  { event: 'captured', label: 'Captured' },
  { event: 'failed', label: 'Failed' },
] as const;
