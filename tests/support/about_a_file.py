"""Tests that ``--store=postgres`` leaves out: they are about what only a file has (its pages, its log, its path, older
files), or another process opens the same path, where stores are files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_WHOLE = (
    *("store/test_cache.py", "store/test_cache_stress.py", "store/test_codec.py", "store/test_soundness.py"),
    *("store/test_soundness_of_links.py", "store/test_file_memory.py"),
    *("store/test_store_file.py", "store/test_store_flips.py", "store/test_store_formats.py"),
    *("store/test_store_log.py", "store/test_store_obstacles.py", "store/test_store_rehearsal.py"),
    *("store/test_store_upgrade.py", "store/test_series_damage.py"),
    # They make their own stores on PostgreSQL.
    *("store/test_postgres_traps.py", "store/test_postgres_faults.py", "engine/test_engine_on_postgres.py"),
    *("store/test_copy_store_postgres.py", "store/test_objects_postgres.py", "store/test_postgres_upgrade.py"),
    "server/test_two_servers.py",
    "server/test_two_servers_killed.py",
)
_SINGLE = (
    *("test_two_processes_write_at_once", "test_killed_writers_leave_nothing_half"),
    *("test_threads_that_end_close_their_connections", "test_the_log_is_moved_into_the_file"),
    *(
        "test_a_key_names_its_user_and_no_secret_is_kept",
        "test_a_store_from_before_the_server_is_brought_up_to_date",
        "test_a_copy_of_the_store_is_noted_for_each_organization_in_it",
    ),
    *("test_a_row_of_people_or_uploads_that_changed_is_named", "test_rows_of_an_older_store_get_their_checksums"),
    *("test_two_thousand_measurements_cost_no_more_statements_than_two", "test_every_row_is_a_sound_request"),
    *("test_keys_are_made_listed_and_revoked", "test_members_are_listed_added_and_removed"),
    *("test_a_store_of_two_organizations_starts_again", "test_a_revoked_key_is_refused_at_once_by_every_process"),
    *("test_what_a_killed_server_left_undone", "test_what_killed_requests_left_is_removed_after_a_day"),
    *("test_a_process_killed_while_it_moves_leaves_nothing_half", "test_a_backup_may_be_one_file"),
    *(
        "test_a_backup_has_its_own_objects_and_the_next_one_copies_only_new_ones",
        "test_a_backup_of_a_damaged_object_is_refused_and_leaves_no_file",
    ),
    # A store on PostgreSQL is not backed up by us.
    *("test_a_copy_does_not_join_the_place_of_its_store", "test_who_took_over_is_the_only_one_who_deletes"),
    *("test_a_backup_is_not_put_where_a_store_deletes", "test_a_backup_in_one_file_is_whole_or_refused"),
    "test_a_flipped_byte_in_a_claim_is_found",
    "test_a_backup_of_the_file_alone_finds_the_samples_from_another_folder",
    "test_a_backup_in_one_file_takes_no_name_that_was_taken_meanwhile",
    "test_a_copy_in_place_of_the_store_is_not_answered_for_the_other",
    "test_a_revision_of_an_older_copy_is_not_taken_for_another_of_its_number",
    "test_a_wrong_secret_of_a_remembered_key_is_looked_up_as_an_unknown_id_is",
    "test_a_run_whose_process_ended_is_said_to_be_stopped",
    "test_an_address_has_five_failed_tries_a_minute_over_all_processes",
    "test_two_processes_on_one_store_see_each_other_at_the_next_request",
    "test_the_commands_make_narrow_keys_and_show_the_audit_log",
    "test_it_ends_with_its_key_at_once_in_every_process",
    "test_tests_are_kept_in_few_transactions",
)


def is_about_a_file(nodeid: str) -> bool:
    """Whether a test is left out, by its id."""
    return any(f"tests/{file}" in nodeid for file in _WHOLE) or any(f"::{name}" in nodeid for name in _SINGLE)


class _Making:
    files = False


def makes_files() -> bool:
    """Whether a new store is a file now, also with ``--store=postgres``."""
    return _Making.files


@contextmanager
def new_stores_are_files() -> Iterator[None]:
    """Inside, a new store is a file."""
    _Making.files = True
    try:
        yield
    finally:
        _Making.files = False
