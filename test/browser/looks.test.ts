import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { before, tell, times } from '../support/proof.ts';
import { NEEDED } from './dashboard.ts';
import { faultsByAxe, tooWide, visit } from './looks.ts';
import { pagesOf } from './pages.ts';
import { type Populated, populate } from './populated.ts';

/** Every page can be read by everybody: contrast, names and roles by axe; a phone's width; in light and in dark. */

/** In how many of the two looks axe sees each page: before a merge in one, and the next page in the other. */
const LOOKS = times('looks', 1);

/** Whether axe sees the page at this place in this look: all in light and in dark, or each in one, by turns. */
const isSeen = (place: number, look: number) => LOOKS > 1 || (place + before()) % 2 === look;

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
    tell('pages seen by axe', { pages: NAMES.length * LOOKS });
  });

  const pageCalled = (name: string) => {
    const found = pagesOf(populated.things).find((page) => page.name === name);
    if (found === undefined) throw new Error(`no page is called ${name}`);
    return found;
  };

  test.each(NAMES.filter((_, place) => isSeen(place, 0)))(
    '%s has no serious finding of axe, in light',
    async (name) => {
      await visit(wide, pageCalled(name));
      expect(await faultsByAxe(wide)).toEqual([]);
    },
  );

  test.each(NAMES.map((name, place) => ({ name, seen: isSeen(place, 1) })))(
    '$name fits a phone, and has none there in dark either',
    async ({ name, seen }) => {
      await visit(phone, pageCalled(name));
      await expect.poll(() => tooWide(phone)).toEqual([]);
      if (seen) expect(await faultsByAxe(phone)).toEqual([]);
    },
  );
});
