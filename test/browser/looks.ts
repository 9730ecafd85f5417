import type { Page } from 'playwright-core';
import type { LookedAt } from './pages.ts';

/** Goes to a page and waits until it has said all it has to say. */
export async function visit(page: Page, { path, heading }: LookedAt): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { name: heading }).first().waitFor();
  await settled(page);
}

/** Resolves when nothing on the page is still to come. */
export async function settled(page: Page): Promise<void> {
  for (const busy of ['.skeleton', '[aria-busy="true"]'])
    await page.waitForSelector(busy, { state: 'detached' });
}

/** What of a page's content reaches beyond its right edge. */
export async function tooWide(page: Page): Promise<readonly string[]> {
  return await page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > width + 1)
      .slice(0, 5)
      .map((element) => element.outerHTML.slice(0, 120));
  })()`);
}
