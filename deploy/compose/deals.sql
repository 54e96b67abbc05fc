-- Deals as a messenger leaves them on a bad day, so that the service has something to finish:
-- four whose chat failed or hangs, and one that no attempt can finish (its title is blank).
-- Run again it changes nothing.
begin;

insert into messenger.deal_chat_provisions
  (id, deal_id, title, status, attempts, last_error, next_attempt_at, updated_at)
values
  ('0b6a5b0e-0000-4000-8000-000000000001', 'd0000000-0000-4000-8000-000000000001', 'Riverside 7', 'Failed', 1, 'contention:40P01', now(), now()),
  ('0b6a5b0e-0000-4000-8000-000000000002', 'd0000000-0000-4000-8000-000000000002', 'Объект №7, ЖК «Север»', 'Failed', 1, 'contention:55P03', now(), now()),
  ('0b6a5b0e-0000-4000-8000-000000000003', 'd0000000-0000-4000-8000-000000000003', 'Harbour View 12', 'Provisioning', 0, null, now(), now() - interval '1 hour'),
  ('0b6a5b0e-0000-4000-8000-000000000004', 'd0000000-0000-4000-8000-000000000004', 'Old Mill 3', 'Provisioning', 0, null, now(), now() - interval '2 hours'),
  ('0b6a5b0e-0000-4000-8000-000000000005', 'd0000000-0000-4000-8000-000000000005', ' ', 'Failed', 0, null, now(), now())
on conflict do nothing;

insert into messenger.deal_chat_provision_members (provision_id, user_id, role)
select p.id, ('e0000000-0000-4000-8000-00000000000' || n)::uuid, (array['Owner', 'Member', 'Observer'])[n]
from messenger.deal_chat_provisions p
cross join generate_series(1, 3) n
where p.id::text like '0b6a5b0e-0000-4000-8000-00000000000%'
on conflict do nothing;

commit;
