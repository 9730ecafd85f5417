import { expect, it } from 'vitest';
import { Turns } from './lists.ts';

/** Works that wait to be let go, and their order. */
function workshop() {
  const turns = new Turns();
  const begun: string[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const ask = (owner: string, name: string) =>
    turns.run(owner, async () => {
      begun.push(name);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return name;
    });
  /** Ends the work under way, and waits for what `ask` gave of it. */
  const end = async (work: Promise<string>) => {
    gates.shift()?.resolve();
    await work;
  };
  return { turns, begun, ask, end };
}

it('lets one work at a time, and goes round by owner however much one of them asks for', async () => {
  const { begun, ask, end } = workshop();
  const works = new Map(
    ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => [name, ask(name.charAt(0), name)]),
  );
  const order: string[] = [];
  while (order.length < works.size) {
    const name = begun.at(-1) ?? '';
    expect(begun).toHaveLength(order.length + 1);
    order.push(name);
    await end(works.get(name) ?? Promise.resolve(''));
    await Promise.resolve();
  }
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('hands the turn on when a work fails', async () => {
  const { turns, ask, end } = workshop();
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = ask('a', 'next');
  await expect(failing).rejects.toThrow('no');
  await end(next);
  expect(await next).toBe('next');
});
