import { expect, test } from 'vitest';
import { qrPath } from './second-factor.tsx';

test('runs of black modules are rectangles, with light around them', () => {
  expect(qrPath(['1101', '0000', '0010'])).toBe('M3 3h2v1h-2zM6 3h1v1h-1zM5 5h1v1h-1z');
});
