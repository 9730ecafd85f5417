import { expect, test } from 'vitest';
import type { ActorKind } from '../operations/system.ts';
import { backupOperations } from './backups.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING, COMMAND_LINE } from './door.ts';

/** Where a path is taken, the collector is asked to wait: the first thing that a backup does. */
async function backUpAs(kind: ActorKind, file: string | null): Promise<unknown> {
  const hold = async () => {
    throw new Error('begun');
  };
  // Sound because nothing else is asked for before.
  const deps = {
    dataDir: '/nonexistent',
    cluster: null,
    clock: { wall: () => 0 },
    collection: { hold },
    resolution: () => ({ config: { secrets: { keyFile: null } } }),
  } as unknown as LocalDeps;
  const { backup } = backupOperations(deps);
  return await ASKING.run({ ...COMMAND_LINE, kind }, () => backup({ file, passphrase: null }));
}

test.each(['user', 'key'] as const)('a %s may not say where a backup is written', async (kind) => {
  const refused = backUpAs(kind, '/tmp/elsewhere.tar');
  await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
  await expect(refused).rejects.toThrow('Leave file null');
});

test('the command line may say where a backup is written', async () => {
  await expect(backUpAs('command', '/tmp/elsewhere.tar')).rejects.toThrow('begun');
});

test('what lies in a database is not backed up, and the refusal says how it is', async () => {
  // Sound because it is refused before anything else is asked for.
  const deps = {
    dataDir: '/srv/node-1',
    cluster: {},
    resolution: () => ({ config: { secrets: { keyFile: null }, database: { schema: 'mail' } } }),
  } as unknown as LocalDeps;
  const { backup } = backupOperations(deps);
  const refused = ASKING.run(COMMAND_LINE, () => backup({ file: '/tmp/all.tar', passphrase: null }));
  await expect(refused).rejects.toMatchObject({ code: 'refused' });
  await expect(refused).rejects.toThrow(/pg_dump .*--schema=mail .*\/srv\/node-1\/secret\.key/);
});
