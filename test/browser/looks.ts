import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { LookedAt } from './pages.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Goes to a page by its address and waits until it has said all it has to say. */
export async function visit(page: Page, { path, heading }: LookedAt): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { name: heading }).first().waitFor();
  await settled(page);
}

/** Goes there as a link does, in two thirds of the time, where its heading tells it from the page that is there. */
export async function follow(page: Page, to: LookedAt): Promise<void> {
  const heading = page.getByRole('heading', { name: to.heading });
  if (page.url() === 'about:blank' || (await heading.count()) > 0) return await visit(page, to);
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(to.path)})`);
  await heading.first().waitFor();
  await settled(page);
}

/** Resolves when nothing on the page is still to come. */
export async function settled(page: Page): Promise<void> {
  for (const busy of ['.skeleton', '[aria-busy="true"]'])
    await page.waitForSelector(busy, { state: 'detached' });
}

/** Resolves when a page has the colours of this scheme, and none of them changes any more. */
export async function coloured(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  // What inherits a colour that changes by and by begins with its own change after it.
  await page.evaluate(`(async () => {
    const changing = () =>
      document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity);
    do {
      await Promise.allSettled(changing().map(({ finished }) => finished));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    } while (changing().length > 0);
  })()`);
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

/** A finding of axe. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds serious on a page. It runs outside of the page's own world, whose policy would refuse it. */
export async function faultsByAxe(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
    });
    await session.send('Runtime.evaluate', { contextId, expression: AXE });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId,
      expression: `axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    const violations: readonly Violation[] = result.value;
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
      );
  } finally {
    await session.detach();
  }
}
