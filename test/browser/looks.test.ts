import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { NEEDED } from './dashboard.ts';
import { faultsByAxe, tooWide, visit } from './looks.ts';
import { pagesOf } from './pages.ts';
import { type Populated, populate } from './populated.ts';

/** Every page can be read by everybody: contrast, names and roles by axe; a phone's width; in light and in dark. */

const NOTHING = {
  delivered: '',
  failed: '',
  captured: '',
  faulty: '',
  template: '',
  bounced: '',
  suppressed: '',
  webhook: '',
};
const NAMES = pagesOf(NOTHING).map(({ name }) => name);

describeWith(NEEDED, 'every page', () => {
  let populated: Populated;
  let wide: Page;
  let phone: Page;

  beforeAll(async () => {
    populated = await populate();
    wide = await populated.dashboard.signedIn('/');
    phone = await populated.dashboard.signedIn('/', { width: 390, height: 844, colorScheme: 'dark' });
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = populated.dashboard;
    await populated.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  const pageCalled = (name: string) => {
    const found = pagesOf(populated.things).find((page) => page.name === name);
    if (found === undefined) throw new Error(`no page is called ${name}`);
    return found;
  };

  test.each(NAMES)('%s has no serious finding of axe, in light', async (name) => {
    await visit(wide, pageCalled(name));
    expect(await faultsByAxe(wide)).toEqual([]);
  });

  test.each(NAMES)('%s has none in dark either, and fits a phone', async (name) => {
    await visit(phone, pageCalled(name));
    await expect.poll(() => tooWide(phone)).toEqual([]);
    expect(await faultsByAxe(phone)).toEqual([]);
  });
});
