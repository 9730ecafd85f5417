import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { before, tell, times } from '../support/proof.ts';
import { NEEDED } from './dashboard.ts';
import { coloured, faultsByAxe, follow, settled, tooWide } from './looks.ts';
import { pagesOf } from './pages.ts';
import { type Populated, populate } from './populated.ts';

/** Every page can be read by everybody: contrast, names and roles by axe; a phone's width; in light and in dark. */

/** In how many of the two looks axe sees each page: before a merge in one, and the next page in the other. */
const LOOKS = times('looks', 1);

/** Whether axe sees the page at this place in this look: all in light and in dark, or each in one, by turns. */
const isSeen = (place: number, look: number) => LOOKS > 1 || (place + before()) % 2 === look;

const WIDE = { width: 1280, height: 800, colorScheme: 'light' } as const;
const PHONE = { width: 390, height: 844, colorScheme: 'dark' } as const;

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
  let page: Page;

  beforeAll(async () => {
    populated = await populate();
    page = await populated.dashboard.signedIn('/', PHONE);
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

  // What is there changes its look without being fetched again.
  test.each(NAMES.map((name, place) => ({ name, place })))(
    '$name fits a phone, and has no serious finding of axe, in light, or in dark on a phone',
    async ({ name, place }) => {
      await page.setViewportSize(PHONE);
      await coloured(page, PHONE.colorScheme);
      await follow(page, pageCalled(name));
      await expect.poll(() => tooWide(page)).toEqual([]);
      if (isSeen(place, 1)) expect(await faultsByAxe(page)).toEqual([]);
      if (!isSeen(place, 0)) return;
      await page.setViewportSize(WIDE);
      await coloured(page, WIDE.colorScheme);
      await settled(page);
      expect(await faultsByAxe(page)).toEqual([]);
    },
  );
});
