"""What the everyday run leaves out for its time: it has to end within seven minutes on two cores. ``--long`` runs all.

A test is worth 0.4 s of every day, with all its cases, as long as they were recorded to take
(`recorded_seconds`). Those that would notice what nothing else notices are worth
more: `WORTH`. What is left out by name (`EACH`) is the same again at another place (the next kind of figure, the next
way a process is killed), or looks at a picture in a browser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil, inf

from .recorded_seconds import recorded

NEVER = 0
"""Only at full size."""
ONE = 10**6
"""The first case only."""

EACH: Mapping[str, Mapping[str, int]] = {
    "analyses/test_many_tests.py": {
        "test_a_run_is_killed_stopped_and_goes_on_and_nothing_is_done_twice": NEVER,
    },
    "analyses/test_stale_analyses_shown.py": {
        "test_an_analysis_over_several_tests_does_not_hold_once_another_one_came": NEVER,
    },
    "battery/test_validation.py": {"test_a_case_gives_its_reference_and_what_the_page_says": 3},
    "bench/test_bench_complete_cycles.py": {
        "test_a_broken_off_cycle_ends_no_life": ONE,
        "test_an_answer_in_the_cache_follows_later_cycles_and_new_limits": ONE,
    },
    "bench/test_bench_named_recipes.py": {"test_every_method_takes_every_way_to_name_a_recipe": 3},
    "bench/test_bench_quick.py": {
        "test_what_a_file_holds_can_be_shown_otherwise": NEVER,
        "test_sample_files_are_drawn_as_what_they_hold": 3,
    },
    "bench/test_bench_simulate.py": {"test_a_bpx_set_is_simulated": NEVER},
    "bench/test_first_figure_shown.py": {
        "test_it_is_shown_without_nbformat": ONE,
        "test_what_plotly_says_where_nbformat_is_not_installed_stays": NEVER,
    },
    "browser/test_browser_controls.py": {"test_a_control_changes_the_figure": ONE},
    "browser/test_browser_harness.py": {
        "test_the_kernel_answers_soon": NEVER,
        "test_a_slider_is_moved_by_the_keyboard": NEVER,
        "test_a_failing_cell_is_told": NEVER,
        "test_requests_and_complaints_are_heard": NEVER,
    },
    "browser/test_browser_hostile.py": {
        "test_a_figure_of_a_script_that_may_be_drawn_does_nothing": ONE,
        "test_the_policy_of_an_export_stops_what_a_figure_would_fetch": ONE,
        "test_what_may_not_be_shown_would_fetch": ONE,
    },
    "browser/test_browser_parts.py": {
        "test_all_was_proper": NEVER,
        "test_a_closed_view_is_gone_from_page_and_kernel": NEVER,
        "test_a_script_that_never_ends_is_stopped_by_its_button": NEVER,
        "test_a_cleared_date_sends_nothing": NEVER,
        "test_a_decimal_comma_is_a_point_and_arrow_keys_step": NEVER,
        "test_a_typed_number_is_taken_whole": NEVER,
        "test_a_static_figure_is_told_in_words": NEVER,
        "test_controls_and_pictures_have_names_and_states": NEVER,
        "test_controls_look_well_on_both_themes": NEVER,
        "test_a_number_that_is_not_whole_is_refused_in_words": NEVER,
        "test_pictures_keep_their_height_on_any_resize": NEVER,
        "test_static_figures_follow_the_theme": NEVER,
    },
    "browser/test_browser_plotly_files.py": {
        "test_a_view_of_a_new_kernel_gets_the_file_that_dead_views_cannot_bring": NEVER,
        "test_a_figure_that_needs_the_whole_file_gets_it_and_others_stay": NEVER,
    },
    "browser/test_browser_still.py": {
        "test_a_row_of_buttons_has_one_line_where_there_is_room": NEVER,
        "test_a_saved_picture_suits_both_themes": NEVER,
        "test_a_look_at_a_plan_keeps_its_own_face_beside_a_view": NEVER,
    },
    "browser/test_browser_view.py": {"test_undo_and_redo": NEVER, "test_the_figure_is_as_wide_as_its_cell": NEVER},
    "browser/test_page.py": {
        "test_a_dashboard_is_made_and_arranged_by_keyboard": NEVER,
        "test_a_code_in_the_fragment_signs_in_once": NEVER,
        "test_a_session_that_ends_is_renewed_without_losing_the_place": NEVER,
        "test_a_slider_is_moved_by_the_keyboard_and_a_refused_number_says_why": NEVER,
        "test_a_test_that_fails_leaves_pictures_of_its_windows": NEVER,
        "test_the_html_names_all_that_a_page_loads_before_it_shows_something": ONE,
        "test_who_saves_second_sees_both_sides_and_loses_nothing": NEVER,
        "test_zoom_reads_finer_samples_and_one_plot_shows_what_it_is_made_of": NEVER,
    },
    "browser/test_page_accessible.py": {"test_every_page_is_for_everyone": NEVER},
    "browser/test_page_as_of.py": {
        "test_the_data_of_an_earlier_day": NEVER,
        "test_what_alerts_found_is_shown_until_somebody_has_seen_it": NEVER,
    },
    "browser/test_page_controls.py": {
        "test_every_control_is_seen_and_changes_the_address_and_the_figure": NEVER,
    },
    "browser/test_page_dark.py": {
        "test_a_figure_on_white_paper_is_as_on_a_light_page": NEVER,
        "test_a_figure_that_is_drawn_out_of_sight_has_the_fonts_of_its_room": NEVER,
        "test_a_narrow_figure_keeps_its_small_fonts_though_its_room_was_wide_for_a_moment": NEVER,
        "test_texts_in_boxes_are_read_on_a_dark_page": NEVER,
        "test_the_ground_of_other_axes_is_dark_too": NEVER,
        "test_what_a_script_chose_for_a_polar_figure_is_read_on_a_dark_page": NEVER,
    },
    "browser/test_page_numbers.py": {
        "test_a_table_that_ends_says_how_many_rows_are_elsewhere": NEVER,
        "test_the_numbers_of_each_kind_of_figure_are_a_table": ONE,
    },
    "cli/test_cli_commands.py": {
        "test_a_mistake_ends_in_a_sentence": 2,
        "test_demo_uses_the_one_that_is_there": NEVER,
    },
    "cli/test_cli_demo_serves.py": {
        "test_it_stops_before_where_it_is_told": NEVER,
        "test_the_demo_serves_its_store": NEVER,
    },
    "cli/test_cli_imports.py": {
        "test_a_bench_is_opened_without_what_it_does_not_need_yet": ONE,
        "test_a_command_of_the_store_alone_needs_no_frames": ONE,
        "test_a_server_imports_all_at_its_start": NEVER,
    },
    "cli/test_cli_store.py": {"test_recompute_says_what_it_would_do_and_does_it": NEVER},
    "cycling/test_cycling_against_reference.py": {"test_batches_do_not_change_a_bit": NEVER},
    "declarations/test_adding.py": {
        "test_what_is_declared_as_the_page_says_works": NEVER,
        "test_what_is_left_out_is_named_at_import": ONE,
    },
    "demo/test_demo_made.py": {"test_a_second_run_draws_the_same_and_keeps_what_is_there": NEVER},
    "demo/test_demo_plots.py": {"test_a_view_change_reads_nothing": 3},
    "fan_out/test_golden_plans.py": {
        "test_golden_plans_give_the_same_bytes_everywhere_also_while_workers_are_killed": NEVER,
    },
    "fan_out/test_same_answers.py": {
        "test_a_damaged_store_is_described_by_the_same_sentences": NEVER,
        "test_what_is_made_anew_in_processes_that_are_killed_is_the_same": NEVER,
    },
    "gallery/test_gallery_shown.py": {"test_all_pictures_are_drawn_by_one_browser": NEVER},
    "gallery/test_gallery_stores.py": {
        "test_each_capacity_current_and_resistance_can_be_given_per_gram_or_area": 5,
        "test_each_leaves_out_what_is_excluded_and_says_why": 3,
        "test_near_far_and_http_draw_the_same": NEVER,
        "test_on_the_demo_each_draws_its_question": 5,
        "test_on_an_empty_store_each_says_what_it_needs": 3,
        "test_on_one_bare_file_each_is_a_figure_or_a_sentence": 3,
    },
    "hostile_files/test_readers_hostile.py": {
        "test_every_mutation_is_read_or_refused": 3,
        "test_more_columns_than_the_bound": NEVER,
    },
    "hostile_files/test_readers_hostile_packed.py": {
        "test_a_parameter_set_of_no_end": NEVER,
        "test_a_sheet_of_a_million_columns": NEVER,
        "test_every_mutation_is_read_or_refused": ONE,
        "test_every_mutation_of_hdf5_is_read_or_refused": NEVER,
        "test_one_long_text_in_many_cells_is_not_copied": NEVER,
    },
    "ingest/test_advice.py": {"test_advice_about_a_file_keeps_its_numbers": 3},
    "ingest/test_ingest_files.py": {
        "test_a_process_that_dies_or_hangs_costs_its_own_file_only": NEVER,
        "test_two_ingests_at_once_store_each_file_once": NEVER,
    },
    "ingest/test_ingest_mutations.py": {
        "test_archives": ONE,
        "test_structures_and_tables_in_a_process_of_their_own": NEVER,
    },
    "ingest/test_ingest_zones.py": {
        "test_days_that_are_counted_are_of_a_place_too": ONE,
        "test_the_time_goes_on_where_the_clock_changes": 4,
        "test_a_change_of_summer_time_is_named_with_its_zone": 3,
    },
    "notebook/test_author_view.py": {"test_undo_goes_back_to_the_draft_before": NEVER},
    "notebook/test_kernel_ends.py": {"test_it_does_not_wait_for_processes_of_its_own": ONE},
    "notebook/test_view_close.py": {
        "test_a_closed_view_leaves_the_memory": 3,
        "test_nothing_is_left_of_a_closed_view": 3,
    },
    "notebook/test_view_stop.py": {"test_a_cell_that_waits_for_the_figure_can_be_stopped": NEVER},
    "notebooks/test_notebooks.py": {"test_it_runs_beside_a_demo": ONE},
    "passport/test_passport_boards.py": {
        "test_each_figure_of_a_dashboard_has_its_passport_under_its_name": NEVER,
    },
    "passport/test_passport_files.py": {"test_a_picture_gives_its_passport_back_and_still_opens": ONE},
    "pictures/test_letters.py": {"test_an_export_says_it": NEVER},
    "pictures/test_time_limit.py": {"test_a_picture_that_never_ends_is_stopped_in_words": NEVER},
    "pictures/test_true_size.py": {"test_a_pdf_of_a_journal_is_to_size": NEVER},
    "readers/test_readers_docs.py": {"test_every_format_refuses_a_foreign_file_in_words": ONE},
    "readers/test_readers_locked.py": {
        "test_a_process_that_was_taken_over_may_answer_anything": 3,
        "test_a_process_that_was_taken_over_may_ask_for_anything": ONE,
        "test_every_reader_gives_the_same_under_the_lock": NEVER,
    },
    "readers/test_readers_several_tests.py": {
        "test_python_objects_in_hdf5_are_not_damage": NEVER,
        "test_a_column_that_names_cells_in_a_table_of_hdf5": NEVER,
        "test_a_header_with_the_mark_of_places_in_it_can_be_mapped": NEVER,
        "test_a_map_of_columns_is_honoured_in_tables": NEVER,
        "test_matrices_are_named_with_their_size_and_never_dropped_silently": NEVER,
        "test_structures_in_cell_arrays_of_two_and_three_dimensions_are_read": NEVER,
    },
    "readers/test_readers_structures.py": {
        "test_any_structure_with_time_current_and_voltage": NEVER,
        "test_a_unit_per_area_in_an_attribute_is_refused_until_it_is_mapped": NEVER,
        "test_hdf5_of_matlab_with_references": NEVER,
        "test_oxford_cells_one_by_one_with_a_current_from_the_charge": NEVER,
        "test_units_in_the_attributes_of_hdf5_count": ONE,
        "test_what_is_beside_the_vectors_is_kept": NEVER,
    },
    "readers/test_readers_truth.py": {
        "test_rows_cycles_voltages_and_duration": 2,
        "test_batches_of_any_size_add_up_to_the_same": NEVER,
        "test_the_cells_of_the_large_parquet": NEVER,
    },
    "readers/test_readers_unseen.py": {
        "test_nasa_cycles_begin_with_what_the_cell_began_with": ONE,
    },
    "recipe/test_recipe_places.py": {"test_of_broken_recipes": ONE},
    "remote/test_remote_every_method.py": {"test_near_and_far_answer_the_same": 3},
    "remote/test_remote_ingest.py": {
        "test_an_exported_file_brings_what_is_known_of_it": NEVER,
        "test_parts_of_one_test_are_joined_there": NEVER,
    },
    "remote/test_remote_same.py": {
        "test_a_golden_recipe_gives_the_same_bytes": 8,
        "test_every_saved_plot_is_drawn_from_its_dashboard": ONE,
        "test_samples_given_far_are_stored_as_given_near": ONE,
    },
    "server/test_server_connections.py": {
        "test_a_body_that_stops_is_refused_and_one_that_goes_on_is_taken": NEVER,
        "test_idle_and_slow_connections_do_not_slow_those_who_have_a_key": NEVER,
    },
    "server/test_server_fuzz.py": {"test_no_request_breaks_the_server": 16},
    "server/test_server_plots.py": {"test_every_plot_of_the_demo_is_the_same_near_and_far": NEVER},
    "server/test_server_provider.py": {"test_nobody_is_bound_in_part": NEVER},
    "server/test_server_route_index.py": {"test_the_index_finds_the_same_route_for_every_path": NEVER},
    "store/test_cache_stress.py": {"test_no_answer_is_ever_wrong": NEVER},
    "store/test_rows_lists.py": {
        "test_two_thousand_measurements_cost_no_more_statements_than_two": NEVER,
    },
    "store/test_runs.py": {"test_runs_have_the_payloads_that_they_have_alone": NEVER},
    "store/test_series_reduced.py": {"test_reads_of_random_windows": 3},
    "store/test_series_writers.py": {"test_killed_writers_leave_nothing_half": NEVER},
    "store/test_soundness_of_links.py": {"test_each_changed_value_is_named": 4},
    "store/test_store_log.py": {
        "test_however_a_process_ends_the_store_opens": ONE,
        "test_the_command_takes_what_is_there": NEVER,
    },
    "store/test_store_upgrade.py": {
        "test_an_upgrade_that_is_killed_leaves_the_store_old_or_new": NEVER,
        "test_opening_that_is_killed_while_it_adds_leaves_the_store_old_or_new": NEVER,
    },
    "test_deprecated.py": {"test_what_packages_with_formats_use_has_its_old_place_too": ONE},
    "test_docs.py": {
        "test_every_block_of_a_page_runs": 9,
        "test_the_page_of_figures_for_papers_runs": NEVER,
    },
    "test_server_package.py": {"test_another_module_beside_does_no_harm": NEVER},
    "transform/test_draw.py": {
        "test_the_same_figure_byte_for_byte_also_in_a_process_with_another_hash_seed": NEVER,
    },
    "transform/test_figure_check.py": {"test_no_figure_costs_the_server_much": 4},
    "transform/test_keys.py": {"test_the_scripts_of_the_tests_can_be_walked": NEVER},
    "transform/test_memory_before_fork.py": {
        "test_a_fork_writes_to_fewer_pages_where_gaps_were_filled": NEVER,
    },
    "transform/test_own_process.py": {
        "test_a_script_that_never_ends_meets_its_limit": ONE,
        "test_others_do_not_wait_for_a_slow_script": NEVER,
    },
    "transform/test_protected.py": {
        "test_every_saved_plot_of_the_demo_is_the_same_twice": NEVER,
        "test_without_the_lock_nothing_is_drawn_and_the_mend_is_named": ONE,
    },
    "transform/test_protected_analyses.py": {"test_every_analysis_runs_behind_the_lock": NEVER},
    "browser/test_browser_board.py": {"test_plots_follow_the_theme": NEVER},
    "browser/test_browser_figure_walls.py": {
        "test_each_wall_alone_stops_what_plotly_makes_of_parts": NEVER,
        "test_texts_in_every_attribute_neither_fetch_nor_run": ONE,
    },
    "store/test_store_flips.py": {"test_a_damaged_store_is_never_read_in_silence": ONE},
    "test_packaging.py": {
        "test_what_a_group_declares_is_used": NEVER,
        "test_what_developers_use_is_declared": NEVER,
    },
    "test_figure_sketch.py": {"test_a_large_figure_has_a_small_sketch": NEVER},
    "test_other_systems.py": {"test_the_stand_in_takes_away_what_it_says": NEVER},
    "readers/test_readers_other_makers.py": {"test_units_beside_the_vectors_of_a_structure_count": ONE},
    "lint/test_lint_figures.py": {"test_the_plots_of_the_demo_are_without_lint": 3},
    "recordings/test_replay.py": {
        "test_a_recording_is_answered_as_it_was": 2,
        "test_every_operation_has_succeeded_and_failed": NEVER,
    },
    "store/test_series_damage.py": {"test_one_flipped_byte_is_never_a_wrong_value": NEVER},
    "ingest/test_ingest_tests_below.py": {"test_tests_below_each_other_are_refused": 3},
    "ingest/test_ingest_clocks.py": {"test_a_fraction_of_a_second_behind_a_comma": 4},
    "transform/test_protected_curves.py": {"test_analyses_of_samples_run_in_protected_scripts": NEVER},
    "ingest/test_ingest_charge.py": {"test_a_file_that_grows_gives_the_tables_of_one_reading": ONE},
}
"""File -> test -> each how manieth of its cases runs every day, counted from the first."""


USUAL = 0.4
"""What a test is worth that is not named here, s of the recorded ones."""

WORTH: Mapping[str, Mapping[str, float]] = {
    "battery/test_validation.py": {"test_a_case_gives_its_reference_and_what_the_page_says": 3},
    "bench/test_untrusted_scripts.py": {"test_a_strangers_store_runs_nothing_with_my_rights": inf},
    "browser/test_browser_board.py": {"test_all_was_proper": inf},
    "browser/test_browser_figure_walls.py": {"test_texts_in_every_attribute_neither_fetch_nor_run": inf},
    "browser/test_browser_view.py": {"test_all_was_proper": inf, "test_many_fast_changes": inf},
    "browser/test_page.py": {
        "test_a_dashboard_draws_its_plots_and_can_be_used_by_people_who_hear_it": inf,
        "test_a_recipe_is_checked_fixed_saved_compared_and_restored": inf,
        "test_a_viewer_sees_no_way_to_change_and_a_stranger_sees_one_sentence": inf,
        "test_a_wrong_key_is_refused_in_words_and_a_right_one_opens_the_page": inf,
        "test_files_are_brought_in_and_the_report_says_what_became_of_each": inf,
    },
    "browser/test_page_hostile.py": {"test_no_name_note_tag_or_figure_runs_or_fetches": inf},
    "cli/test_cli_commands.py": {"test_backup_and_verify": inf, "test_a_mistake_ends_in_a_sentence": 2},
    "cycling/test_cycling_against_reference.py": {
        "test_step_types_follow_the_rules_in_order": inf,
        "test_steps_and_cycles_are_those_of_the_reference": inf,
    },
    "engine/test_engine_fresh.py": {"test_every_list_follows_every_change_and_none_else": inf},
    "engine/test_engine_ops.py": {
        "test_random_aggregates_agree_with_the_reference": inf,
        "test_random_joins_agree_with_the_reference": inf,
    },
    "engine/test_engine_plans.py": {"test_random_plans_agree_with_the_reference": inf},
    "exchange/test_exchange_round_trip.py": {"test_all_comes_back": inf},
    "gallery/test_built_in_author.py": {"test_a_wish_becomes_the_fitting_plot": 3},
    "gallery/test_gallery_stores.py": {"test_on_the_demo_each_draws_its_question": 3},
    "notebook/test_view_stop.py": {"test_a_limit_ends_the_script": inf},
    "notebooks/test_notebooks.py": {"test_it_runs_beside_a_demo": inf},
    "readers/test_readers_locked.py": {
        "test_a_lock_that_does_not_hold_is_not_used": inf,
        "test_a_parser_can_do_nothing_but_read_its_file": inf,
    },
    "readers/test_readers_samples.py": {"test_measurement": 3},
    "readers/test_readers_truth.py": {
        "test_charge_by_integration_and_its_direction": 3,
        "test_is_recognised_from_content": 3,
        "test_rows_cycles_voltages_and_duration": 6,
    },
    "recordings/test_exchange.py": {
        "test_a_bench_of_0_1_0_is_answered_by_this_server_as_by_its_own": inf,
        "test_this_bench_works_with_a_server_of_0_1_0_or_refuses_it": inf,
    },
    "recordings/test_replay.py": {"test_a_recording_is_answered_as_it_was": 8},
    "remote/test_remote_every_method.py": {"test_near_and_far_answer_the_same": 4},
    "server/test_server_fuzz.py": {"test_no_request_breaks_the_server": 5},
    "server/test_server_matrix.py": {
        "test_a_viewers_key_changes_nothing": inf,
        "test_anothers_id_is_answered_like_an_unknown_one": inf,
        "test_without_a_credential_in_force_there_is_nothing": inf,
        "test_without_a_role_in_a_project_it_is_not_there": inf,
    },
    "server/test_server_provider.py": {"test_a_token_that_is_not_sound_signs_nobody_in": inf},
    "store/test_codec.py": {"test_any_array_comes_back_bit_for_bit": inf},
    "store/test_store_flips.py": {"test_a_damaged_store_is_never_read_in_silence": inf},
    "store/test_store_log.py": {"test_however_a_process_ends_the_store_opens": inf},
    "stores/test_store_0_1_0.py": {
        "test_the_old_store_answers_as_it_did": inf,
        "test_the_old_store_draws_the_same_figures_protected_until_one_step_trusts_it": inf,
    },
    "test_docs.py": {"test_every_block_of_a_page_runs": inf, "test_the_recipes_of_the_docs_draw_on_the_demo": inf},
    "test_packaging.py": {"test_what_the_library_imports_is_declared": inf},
    "test_words.py": {"test_no_text_uses_a_word_of_the_list": inf},
    "transform/test_protected.py": {
        "test_a_zygote_holds_nothing_of_the_servers_and_leaves_nothing": inf,
        "test_without_the_lock_nothing_is_drawn_and_the_mend_is_named": inf,
    },
}
"""File -> test -> what it is worth, s of the recorded ones; `inf`: whatever it takes."""


class Everyday:
    """Says of each test in turn whether the everyday run has it.

    Parameters
    ----------
    nodeids
        All tests, in the order in which they were collected.
    """

    def __init__(self, nodeids: Iterable[str]) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._cases = Counter(map(_named, nodeids))

    def has(self, nodeid: str) -> bool:
        """Whether this test runs every day. Asked once for each, in the order in which they were collected."""
        file, test = key = _named(nodeid)
        place, each = self._seen[key], self._each(file, test)
        self._seen[key] += 1
        return each != NEVER and place % each == 0

    def _each(self, file: str, test: str) -> int:
        """Each how manieth case of a test runs."""
        each = EACH.get(file, {}).get(test, 1)
        seconds = recorded().get(file, {}).get(test, 0)
        worth = WORTH.get(file, {}).get(test, USUAL)
        if each == NEVER or seconds > worth:
            return NEVER
        of = -(-self._cases[file, test] // each)
        return each * max(1, ceil(of * seconds / worth))


def _named(nodeid: str) -> tuple[str, str]:
    """The file below ``tests/`` and the test of a case."""
    file, _, rest = nodeid.removeprefix("tests/").partition("::")
    return file, rest.partition("[")[0]
