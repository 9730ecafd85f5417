/** Joins those class names that are there. */
export function classNames(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

/** Solid colours of what became of mail, for bars, dots and stripes beside text. */
export const FILLS = {
  delivered: 'bg-chart-delivered',
  failed: 'bg-chart-failed',
  retrying: 'bg-chart-retrying',
  captured: 'bg-chart-captured',
  denied: 'bg-chart-denied',
  processing: 'bg-processing',
} as const;
