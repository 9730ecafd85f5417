/** Channels of alerts, whose URLs and keys are secrets: stored, told something, and repeated by whoever was told. */
import type { RequestOf } from '../../src/operations/table.ts';
import { runCommand, type SecretsWorld } from './secrets-world.ts';

/** Adds a channel of each kind that has a secret, and tells it something; one with a wrong secret is refused. */
export async function useAlerts(world: SecretsWorld): Promise<void> {
  const { operations, book, provider, traces } = world;
  const secretUrl = (name: string) => `${provider.url}/${world.secret(`path of ${name}`, 'plain')}`;
  const channels: readonly RequestOf<'addAlertChannel'>[] = [
    { name: 'program', kind: 'webhook', url: `${provider.url}/alerts` },
    { name: 'chat', kind: 'slack', secret: secretUrl('chat') },
    { name: 'room', kind: 'discord', secret: secretUrl('room') },
    { name: 'office', kind: 'teams', secret: secretUrl('office') },
    {
      name: 'phone',
      kind: 'ntfy',
      url: `${provider.url}/topic`,
      secret: world.secret('token of phone', 'plain'),
    },
    {
      name: 'duty',
      kind: 'pagerduty',
      url: `${provider.url}/enqueue`,
      secret: world.secret('integration key', 'plain').padEnd(32, '0').slice(0, 32),
    },
  ];
  for (const channel of channels) {
    const { secret } = await operations.addAlertChannel(channel);
    if (secret !== null) book.add(`secret of ${channel.name}`, secret);
    if (channel.kind === 'pagerduty') book.add('integration key as it is', channel.secret ?? '');
    await runCommand(world, ['alerts', 'test', channel.name]);
  }
  const refused = { name: 'bad', kind: 'slack', secret: world.secret('no URL', 'plain') } as const;
  const asked = operations.addAlertChannel(refused);
  traces.add('commands: alerts add, refused', await asked.then((done) => JSON.stringify(done), String));
  await runCommand(world, ['alerts', 'channels']);
  await runCommand(world, ['export']);
}
