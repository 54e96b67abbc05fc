-- The claim of jobs goes from the highest priority down and stops when it has enough, by indexes that a
-- start of a job doesn't write. A program of before claims by it too; what it looks for by state alone,
-- the silent, it finds without an index for as long as it runs beside a newer one.

drop index chokaq.ix_jobs_hot_pending;
drop index chokaq.ix_jobs_hot_active;

-- Pending is who has no owner, at work who has one. Said by the owner and not by the state, which changes
-- once more at the start: so a start, like a heartbeat, is a heap-only update and writes no index.
--
-- The claim: from the highest priority down, queue by queue, what is due from the front. Future ones lie
-- behind the due ones of their own queue and priority, and are never walked over.
create index ix_jobs_hot_pending on chokaq.jobs_hot (priority desc, queue, scheduled_at, id)
  where owner is null;
-- Who is at work: counted for MaxWorkers and looked through for the silent. No more entries than workers.
create index ix_jobs_hot_active on chokaq.jobs_hot (queue, id) where owner is not null;

-- Claims up to p_limit due jobs for p_owner: by priority, then the longest due, then id.
--
-- MaxWorkers is never exceeded: the rows of limited queues are locked first, and a later statement of
-- this function counts who is at work. In READ COMMITTED each statement of a volatile function sees
-- what has committed before it began, so the count sees whatever another claim of that queue has taken
-- before it let go of the lock. In one plain statement the lock and the count would share a snapshot
-- from before the lock. A queue whose lock another claim holds just now is left to that one.
-- Being one statement for the client, no frozen client can keep the locks.
--
-- The planner is held to the indexes: what it knows of the table is from another moment, and a plan made
-- while the table was empty would read all of a backlog of 20,000.
--
-- From the highest priority down, as far as there is still a place: a claim looks at one entry for each
-- queue with jobs of a priority, the longest due one, and then takes from those. What lies below costs it
-- nothing, nor do future jobs, paused queues and full ones beyond that one entry each. Where several
-- queues have jobs of one priority, more rows may be locked than are taken; they are free again when this
-- statement ends.
create or replace function chokaq.fetch_jobs(p_owner text, p_limit integer, p_queues text[])
returns setof chokaq.jobs_hot
language plpgsql volatile
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now      timestamptz := clock_timestamp();
  v_wanted   integer := p_limit;
  v_taken    integer;
  v_priority smallint := 32767;
  v_queues   text[];
  -- By name: paused, full, or another claim's just now. Not looked at again by this claim.
  v_shut     jsonb;
  v_capped   text[];
  v_locked   text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'chokaq.fetch_jobs needs the isolation level read committed, not %',
        current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state',
        hint = 'Call it in a transaction that begins with isolation level read committed.';
  end if;

  select coalesce(jsonb_object_agg(q.name, true) filter (where q.paused), '{}'),
    coalesce(array_agg(q.name) filter (where q.max_workers is not null and not q.paused), '{}')
  into v_shut, v_capped from chokaq.queues q;

  loop
    select j.priority into v_priority from chokaq.jobs_hot j
    where j.owner is null and j.priority < v_priority order by j.priority desc limit 1;
    exit when not found;

    with recursive longest_due (queue, scheduled_at) as (
      (select j.queue, j.scheduled_at from chokaq.jobs_hot j
       where j.owner is null and j.priority = v_priority
       order by j.queue, j.scheduled_at limit 1)
      union all
      select n.queue, n.scheduled_at from longest_due l cross join lateral (
        select j.queue, j.scheduled_at from chokaq.jobs_hot j
        where j.owner is null and j.priority = v_priority and j.queue > l.queue
        order by j.queue, j.scheduled_at limit 1
      ) n
    )
    select array_agg(l.queue) into v_queues from longest_due l
    where l.scheduled_at <= v_now and not v_shut ? l.queue
      and (p_queues is null or l.queue = any (p_queues));
    continue when v_queues is null;

    v_locked := '{}';
    if v_queues && v_capped then
      select coalesce(array_agg(l.name), '{}') into v_locked from (
        select q.name from chokaq.queues q
        where q.name = any (v_queues) and q.max_workers is not null and not q.paused
          and q.max_workers > (
            select count(*) from chokaq.jobs_hot a where a.owner is not null and a.queue = q.name
          )
        order by q.name
        for no key update skip locked
      ) l;
      v_shut := v_shut || (
        select coalesce(jsonb_object_agg(name, true), '{}') from unnest(v_queues) as u (name)
        where name = any (v_capped) and name <> all (v_locked)
      );
    end if;

    return query
    with room as (
      select u.queue, case
          when q.max_workers is null then v_wanted
          else q.max_workers - (
            select count(*)::integer from chokaq.jobs_hot a
            where a.owner is not null and a.queue = u.queue
          )
        end as places
      from unnest(v_queues) as u (queue)
      left join chokaq.queues q on q.name = u.queue
      where not coalesce(q.paused, false)
        and (q.max_workers is null or q.name = any (v_locked))
    ),
    picked as materialized (
      select c.id from room r cross join lateral (
        select j.id, j.scheduled_at from chokaq.jobs_hot j
        where j.owner is null and j.queue = r.queue and j.priority = v_priority
          and j.scheduled_at <= v_now
        order by j.scheduled_at, j.id
        limit greatest(0, least(r.places, v_wanted))
        for no key update skip locked
      ) c
      order by c.scheduled_at, c.id
      limit v_wanted
    )
    update chokaq.jobs_hot h
    set state = 1, owner = p_owner, token = nextval('chokaq.lease_tokens'),
      heartbeat_at = clock_timestamp()
    from picked where h.id = picked.id
    returning h.*;

    get diagnostics v_taken = row_count;
    v_wanted := v_wanted - v_taken;
    exit when v_wanted <= 0;
  end loop;
end
$$;
