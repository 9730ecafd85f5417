import { ask } from '../../parts/ask.tsx';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Card, KeyValue } from '../../parts/page.tsx';
import { Banner, Fetched } from '../../parts/states.tsx';
import { Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';

/** Where the provider of a relay tells what became of mail, for who may see its secret URL. */
export function HookCard({ relay }: { readonly relay: string }) {
  const hook = useCall('relayHook', { name: relay }, { topics: ['relays', 'settings'] });
  return (
    <Card
      title="Webhook"
      note="Where the provider tells of bounces and complaints. Whoever knows the URL may use it: show it to the provider alone."
    >
      <Fetched query={hook} lines={3}>
        {({ url, isReachable, missing, formerUntil, lastProvenAt, lastRefusedAt }) => (
          <div className="space-y-4">
            {missing.length > 0 && (
              <Banner level="warning" title="It refuses everything for now">
                The relay has no {missing.join(' and no ')}: under Edit, Webhook. The documentation says where
                the provider shows it.
              </Banner>
            )}
            <KeyValue
              rows={{
                URL: <Copyable text={url} />,
                'Last proven': lastProvenAt === null ? 'never' : <Time at={lastProvenAt} />,
                'Last refused': lastRefusedAt === null ? undefined : <Time at={lastRefusedAt} />,
                'Former URL':
                  formerUntil === null ? undefined : (
                    <>
                      works until <Time at={formerUntil} exact />
                    </>
                  ),
              }}
            />
            {!isReachable && (
              <p className="text-soft">
                Set <code className="font-mono text-sm">server.public_url</code> to see the whole URL.
              </p>
            )}
            <Button
              small
              label="New URL"
              onClick={() =>
                ask('rotateRelayHook', {
                  request: { name: relay },
                  title: 'Give this webhook another URL?',
                  text: 'The present one works for 24 more hours. Enter the new one at the provider within that time.',
                  confirm: 'Make a new URL',
                  done: 'The webhook has a new URL',
                })
              }
            />
          </div>
        )}
      </Fetched>
    </Card>
  );
}
