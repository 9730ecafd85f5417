/** Holds the colours to WCAG AA: text 4.5:1 on every surface that it stands on, edges of controls and strokes of charts 3:1. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const css = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8');
const tokens = new Map(
  [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }] as const,
  ),
);

const SHEETS = ['paper', 'surface', 'sunken', 'raised'];
const STATES = ['delivered', 'failed', 'retrying', 'processing', 'queued'];

const PAIRS: readonly (readonly [front: string, back: string, least: number])[] = [
  ...['ink', 'soft', 'accent'].flatMap((front) =>
    [...SHEETS, 'accent-soft'].map((back) => [front, back, 4.5] as const),
  ),
  ...['paper', 'surface', 'raised'].map((back) => ['faint', back, 4.5] as const),
  ...STATES.flatMap((state) => [
    ...['surface', 'paper', 'raised', `${state}-soft`].map((back) => [state, back, 4.5] as const),
    ['ink', `${state}-soft`, 4.5] as const,
  ]),
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-strong', 4.5],
  ['surface', 'failed', 4.5],
  ...['surface', 'paper', 'raised'].map((back) => ['edge', back, 3] as const),
  ...['delivered', 'captured', 'failed', 'denied'].map((color) => [`chart-${color}`, 'surface', 3] as const),
];

test.each(PAIRS)('%s on %s keeps %d:1 in both themes', (front, back, least) => {
  for (const theme of ['light', 'dark'] as const)
    expect(contrast(color(front, theme), color(back, theme)), theme).toBeGreaterThanOrEqual(least);
});

function color(name: string, theme: 'light' | 'dark'): string {
  const token = tokens.get(name);
  if (!token) throw new Error(`tokens.css has no ${name}`);
  return token[theme];
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
