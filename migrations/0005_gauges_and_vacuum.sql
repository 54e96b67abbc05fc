-- The oldest row that still has attempts, for the gauge of its age: one look-up for each status and number
-- of attempts that occurs, where reading all that waits took a third of a look at a backlog of 200,000.
-- As ix_dcp_open it holds what is not Ready alone, so it is small, and a row made Ready costs it nothing. Its
-- condition is said in another way, for the planner to leave it alone where candidates are read: without
-- statistics it would take this index for as good as ix_dcp_open, and walk over all rows of the future.
create index ix_dcp_oldest on messenger.deal_chat_provisions (status, attempts, created_at)
  where (status = 'Ready') is false;

-- A row is written at each attempt, and each write leaves a dead entry in the indexes of what is open, which
-- claims and gauges pass over. At the default fifth of the table a million Ready rows would let two hundred
-- thousand of them gather; so would the statistics of the open ones grow old. A vacuum of the indexes that
-- hold open rows alone costs little.
alter table messenger.deal_chat_provisions
  set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
       autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000);
