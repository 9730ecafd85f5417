import { expect, it } from 'vitest';
import type { Queries } from '../../postgres/database.ts';
import { StoreError } from '../store.ts';
import { Gatherer, MAX_UNFLUSHED, MAX_WAITING, MAX_WEIGHT } from './gatherer.ts';
import type { Call } from './work.ts';

/** A database on which transactions run one after the other, when they are let, and that keeps nothing. */
class Stage {
  /** What ran, by the calls of each transaction, in order. */
  readonly ran: string[][] = [];
  readonly #held: (() => void)[] = [];
  #current: string[] = [];
  #isRunning = false;

  readonly transact = async <T>(work: (db: Queries) => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => this.#held.push(resolve));
    this.#current = [];
    this.ran.push(this.#current);
    try {
      return await work(NOTHING);
    } finally {
      this.#isRunning = false;
    }
  };

  /** Lets the next transaction run, if none does. */
  letGo(): void {
    if (this.#isRunning) return;
    const next = this.#held.shift();
    this.#isRunning = next !== undefined;
    next?.();
  }

  /** A call that answers with its name. */
  call(name: string, weight = 1, decide: (name: string) => string = (same) => same): Call<string> {
    const at = { node: 'a', now: 0 };
    return {
      at,
      weight,
      needs: {},
      decide: () => {
        this.#current.push(name);
        return decide(name);
      },
    };
  }

  /** Lets everything run until these are done. */
  async through<T>(answers: Promise<T>): Promise<T> {
    let done = false;
    const end = () => {
      done = true;
    };
    answers.then(end, end);
    while (!done) {
      this.letGo();
      await Promise.resolve();
    }
    return answers;
  }
}

const NOTHING: Queries = { rows: async () => [], run: async () => 0, script: async () => {}, send: () => {} };

it('lets what comes while transactions run go together in the next, in order, each with its own answer', async () => {
  const stage = new Stage();
  const gatherer = new Gatherer(stage);
  const first = gatherer.ask(stage.call('first'));
  const rest = Promise.all(['a', 'b', 'c', 'd'].map((name) => gatherer.ask(stage.call(name))));
  expect(await stage.through(first)).toBe('first');
  expect(await stage.through(rest)).toEqual(['a', 'b', 'c', 'd']);
  expect(stage.ran).toEqual([['first'], ['a', 'b', 'c', 'd']]);
});

it('puts no more into a transaction than fits, and what is larger by itself', async () => {
  const stage = new Stage();
  const gatherer = new Gatherer(stage);
  const sizes = [1, 1, MAX_WEIGHT - 1, 1, 1, MAX_WEIGHT * 2, 1];
  const answers = sizes.map((weight, place) => gatherer.ask(stage.call(`${place}`, weight)));
  await stage.through(Promise.all(answers));
  expect(stage.ran.flat()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  const weights = stage.ran.map((calls) => calls.reduce((sum, name) => sum + (sizes[Number(name)] ?? 0), 0));
  for (const weight of weights) expect([MAX_WEIGHT * 2, Math.min(weight, MAX_WEIGHT)]).toContain(weight);
  expect(stage.ran).toContainEqual(['5']);
});

it('fails only the call whose bug it is', async () => {
  const stage = new Stage();
  const gatherer = new Gatherer(stage);
  const bug = () => {
    throw new StoreError('store_bug', 'wrong');
  };
  const calls = [stage.call('first'), stage.call('a'), stage.call('bad', 1, bug), stage.call('b')];
  const answers = await stage.through(Promise.allSettled(calls.map((call) => gatherer.ask(call))));
  expect(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.code)),
  ).toEqual(['first', 'a', 'store_bug', 'b']);
});

it('fails together what was lost together, and goes on after it', async () => {
  const stage = new Stage();
  const gatherer = new Gatherer(stage);
  let isLost = true;
  const lost = (name: string) => {
    if (isLost) throw new StoreError('store_unavailable', 'lost');
    return name;
  };
  const calls = ['first', 'a', 'b'].map((name) => stage.call(name, 1, lost));
  const answers = await stage.through(Promise.allSettled(calls.map((call) => gatherer.ask(call))));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(stage.ran.flat().length, 'none was asked again').toBeLessThanOrEqual(3);
  isLost = false;
  expect(await stage.through(gatherer.ask(stage.call('again', 1, lost)))).toBe('again');
});

it('tells nobody before the commit: where that fails, all who share it hear so', async () => {
  const stage = new Stage();
  const transact = async <T>(work: (db: Queries) => Promise<T>): Promise<T> => {
    await stage.transact(work);
    throw new StoreError('store_unavailable', 'lost');
  };
  const gatherer = new Gatherer({ transact });
  const calls = ['first', 'a', 'b'].map((name) => stage.call(name));
  const answers = await stage.through(Promise.allSettled(calls.map((call) => gatherer.ask(call))));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(stage.ran).toEqual([['first'], ['a', 'b']]);
});

it('refuses what would make too much wait, in calls or in deliveries, and takes more when there is room', async () => {
  const stage = new Stage();
  const gatherer = new Gatherer(stage);
  const busy = { code: 'store_busy' };
  // What runs does not wait.
  const running = gatherer.ask(stage.call('running'));
  const many: Promise<string>[] = [];
  for (let i = 0; i < MAX_WAITING; i++) many.push(gatherer.ask(stage.call(`${i}`)));
  await expect(gatherer.ask(stage.call('more'))).rejects.toMatchObject(busy);
  await stage.through(Promise.all([running, ...many]));
  const heavy = [1, 2].map((name) => gatherer.ask(stage.call(`${name}`, 100_000)));
  await expect(gatherer.ask(stage.call('more'))).rejects.toMatchObject(busy);
  await stage.through(Promise.all(heavy));
  expect(await stage.through(gatherer.ask(stage.call('last')))).toBe('last');
});

it('finishes what was asked before it was closed, and refuses what comes later', async () => {
  const stage = new Stage();
  const gatherer = new Gatherer(stage);
  const answers = Promise.all(['a', 'b', 'c', 'd'].map((name) => gatherer.ask(stage.call(name))));
  gatherer.close();
  await expect(gatherer.ask(stage.call('late'))).rejects.toMatchObject({ code: 'store_closed' });
  let idle = false;
  const ended = gatherer.idle().then(() => {
    idle = true;
  });
  await Promise.resolve();
  expect(idle).toBe(false);
  expect(await stage.through(answers)).toEqual(['a', 'b', 'c', 'd']);
  await ended;
});

/** A database whose transactions are committed at once, and flushed when they are let. */
class Flushing {
  /** Calls of each transaction that was committed. */
  readonly committed: string[][] = [];
  readonly #flushes: { resolve: () => void; reject: (error: unknown) => void }[] = [];

  readonly transact = async <T>(
    work: (db: Queries) => Promise<T>,
    { committed }: { readonly committed?: () => void } = {},
  ): Promise<T> => {
    this.committed.push([]);
    const result = await work(NOTHING);
    const flushed = Promise.withResolvers<void>();
    this.#flushes.push(flushed);
    committed?.();
    await flushed.promise;
    return result;
  };

  call(name: string): Call<string> {
    const decide = () => {
      this.committed.at(-1)?.push(name);
      return name;
    };
    return { at: { node: 'a', now: 0 }, weight: 1, needs: {}, decide };
  }

  /** Lets the oldest flush end, or fail. */
  flush(error: StoreError | null = null): void {
    const oldest = this.#flushes.shift();
    if (error === null) oldest?.resolve();
    else oldest?.reject(error);
  }
}

/** Until nothing more happens that needs no flush. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 100; turns++) await Promise.resolve();
}

it('begins the next transaction when the last is committed, and tells each its answer when it is flushed', async () => {
  const database = new Flushing();
  const gatherer = new Gatherer(database);
  const told: string[] = [];
  const ask = (name: string) =>
    gatherer.ask(database.call(name)).then(
      (answer) => told.push(answer),
      (error: StoreError) => told.push(`${name}: ${error.code}`),
    );
  for (const name of ['a', 'b', 'c']) {
    void ask(name);
    await settled();
  }
  expect([database.committed, told]).toEqual([[['a'], ['b'], ['c']], []]);
  database.flush();
  await settled();
  database.flush(new StoreError('store_unavailable', 'lost'));
  await settled();
  expect(told).toEqual(['a', 'b: store_unavailable']);
  let isIdle = false;
  void gatherer.idle().then(() => {
    isIdle = true;
  });
  await settled();
  expect(isIdle, 'one is not flushed').toBe(false);
  database.flush();
  await settled();
  expect([told.at(-1), isIdle]).toEqual(['c', true]);
});

it('begins no more where too many are not flushed, and goes on when one is', async () => {
  const database = new Flushing();
  const gatherer = new Gatherer(database);
  for (let place = 0; place < MAX_UNFLUSHED + 2; place++) {
    void gatherer.ask(database.call(`${place}`));
    await settled();
  }
  expect(database.committed).toHaveLength(MAX_UNFLUSHED);
  database.flush();
  await settled();
  expect(database.committed.at(-1), 'those that waited go together').toEqual([
    `${MAX_UNFLUSHED}`,
    `${MAX_UNFLUSHED + 1}`,
  ]);
});
