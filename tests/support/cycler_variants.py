"""Exports of cyclers that were never seen, made from one simulated test: other orders, units, marks and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

DT = 30.0
BEGAN = datetime(2024, 5, 13, 10, 0, 0)
PLAN = (("rest", 0.0, 6), ("charge", 1.0, 21), ("rest", 0.0, 6), ("discharge", -1.0, 21))
CYCLES = 2
WORDS = {
    "plain": {"rest": "Rest", "charge": "CC Chg", "discharge": "CC DChg"},
    "letter": {"rest": "R", "charge": "C", "discharge": "D"},
    "chinese": {"rest": "搁置", "charge": "恒流充电", "discharge": "恒流放电"},
    "german": {"rest": "Pause", "charge": "Laden", "discharge": "Entladen"},
    "paused": {"rest": "P", "charge": "C", "discharge": "D"},
    "landt": {"rest": "R", "charge": "C_CC", "discharge": "D_CC"},
}


def samples() -> Iterator[dict[str, Any]]:
    """The test, a row at a time, in all the ways in which cyclers write its quantities."""
    charge = {"in": 0.0, "out": 0.0}
    t, n, count, total = 0.0, 0, 0, 0.1
    for cycle in range(1, CYCLES + 1):
        cycled = {"in": 0.0, "out": 0.0}
        for step, (word, current, rows) in enumerate(PLAN, 1):
            for k in range(rows):
                inside = abs(current) * k * DT / 3600
                passed = {"in": inside if current > 0 else 0.0, "out": inside if current < 0 else 0.0}
                soc = (total + passed["in"] - passed["out"]) / 0.5
                u = 3.2 + 0.9 * soc + 0.05 * current
                at = BEGAN + timedelta(seconds=t)
                n += 1
                yield {
                    "n": n, "t": t, "min": t / 60, "h": t / 3600, "ms": 1000 * t, "cycle": cycle, "step": step,
                    "count": count + 1, "st": k * DT, "sth": k * DT / 3600, "stmin": k * DT / 60,
                    "i": current, "size": abs(current), "ma": 1000 * current, "ua": 1e6 * current, "neg": -current,
                    "masize": 1000 * abs(current), "u": u, "mv": 1000 * u,
                    "q": inside, "mq": 1000 * inside, "qsigned": passed["in"] - passed["out"],
                    "qc": passed["in"], "qd": passed["out"], "mqc": 1000 * passed["in"], "mqd": 1000 * passed["out"],
                    "tc": charge["in"] + passed["in"], "td": charge["out"] + passed["out"],
                    "cc": cycled["in"] + passed["in"], "cd": cycled["out"] + passed["out"],
                    "e": inside * u, "me": 1000 * inside * u,
                    "dq": 1000 * current * DT / 3600,
                    "temp": 25 + 0.1 * step, "hms": hms(t), "sthms": hms(k * DT), "hmsms": hms(t) + ".000",
                    "dhms": f"{int(t // 86400)}d {hms(t)}.00", "sdhms": f"0d {hms(k * DT)}.00",
                    "iso": f"{at:%Y-%m-%d %H:%M:%S}", "slash": f"{at:%Y/%m/%d %H:%M:%S}", "epoch": at.timestamp(),
                    "us": f"{at:%m/%d/%Y %H:%M:%S}", "ampm": f"{at:%m/%d/%Y %I:%M:%S %p}",
                    "de": f"{at:%d.%m.%Y %H:%M:%S}", "word": word,
                }  # fmt: skip
                t += DT
            total += current * (rows - 1) * DT / 3600
            for way in passed:
                charge[way] += passed[way]
                cycled[way] += passed[way]
            count += 1


def hms(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


ROWS = tuple(samples())


@dataclass(frozen=True)
class Variant:
    """An export: its header lines, a row, and what of the truth it holds.

    ``comma``: decimal commas in the numbers of the rows. ``counted``: charges are counted, else they are integrated.
    ``joined``: only times within steps are there, so that a step begins when the one before has ended.
    ``shift``: added to the voltage, for the content of two files must differ.
    """

    name: str
    format: str
    header: str
    row: str
    above: str = ""
    below: str = ""
    words: str = "plain"
    comma: bool = False
    quoted: bool = False
    counted: bool = True
    cycles: bool = True
    warm: bool = False
    joined: bool = False
    shift: float = 0.0
    encoding: str = "utf-8"

    def text(self) -> str:
        lines = []
        for values in ROWS:
            made = {
                **values,
                "u": values["u"] + self.shift,
                "mv": values["mv"] + 1000 * self.shift,
                "word": WORDS[self.words][values["word"]],
            }
            if self.comma:
                made = {key: Comma(value) if isinstance(value, float) else value for key, value in made.items()}
            lines.append(self.row.format(**made))
        if self.quoted:
            lines = [f'"{line}"' for line in lines]
        return "\n".join([*filter(None, [self.above]), self.header, *filter(None, [self.below]), *lines]) + "\n"


class Comma(float):
    """A number that is written with a comma."""

    def __format__(self, form: str) -> str:
        return super().__format__(form).replace(".", ",")


def truth() -> dict[str, np.ndarray]:
    return {
        "t": np.array([row["t"] for row in ROWS]),
        "count": np.array([row["count"] for row in ROWS]),
        "joined": np.array([row["t"] - DT * (row["count"] - 1) for row in ROWS]),
        "i": -np.array([row["i"] for row in ROWS]),
        "u": np.array([row["u"] for row in ROWS]),
        "temp": np.array([row["temp"] for row in ROWS]),
        "out": np.array([0.0, 0, 0, 600 / 3600] * CYCLES),
        "in": np.array([0.0, 600 / 3600, 0, 0] * CYCLES),
    }


V = Variant
VARIANTS = (
    V("arbin order", "arbin",
      "Date_Time,Data_Point,Cycle_Index,Step_Index,Step_Time(s),Test_Time(s),Voltage(V),Current(A),"
      "Discharge_Capacity(Ah),"
      "Charge_Capacity(Ah),Is_FC_Data,Aux_Temperature_1(C),Aux_Temperature_2(C)",
      "{us},{n},{cycle},{step},{st},{t},{u:.6f},{i:.6f},{td:.8f},{tc:.8f},0,{temp},20", warm=True),
    V("arbin german excel", "arbin",
      "Data_Point;Test_Time(s);Date_Time;Step_Time(s);Step_Index;Cycle_Index;Current(A);Voltage(V);"
      "Charge_Capacity(Ah);"
      "Discharge_Capacity(Ah);Internal_Resistance(Ohm)",
      "{n};{t:.4f};{de};{st:.4f};{step};{cycle};{i:.6f};{u:.6f};{tc:.8f};{td:.8f};0,02", comma=True),
    V("arbin milli", "arbin",
      "Test Time (s),Step Time (s),Cycle Index,Step Index,Current (mA),Voltage (mV),Charge Capacity (mAh),"
      "Discharge Capacity (mAh)",
      "{t:.3f},{st:.3f},{cycle},{step},{ma:.4f},{mv:.3f},{mqc:.5f},{mqd:.5f}"),
    V("arbin tabs", "arbin",
      "Data_Point\tTest_Time(s)\tStep_Time(s)\tDateTime\tStep_Index\tCycle_Index\tCurrent(A)\tVoltage(V)\t"
      "Charge_Capacity(Ah)\tDischarge_Capacity(Ah)\t",
      "{n}\t{t}\t{st}\t{slash}\t{step}\t{cycle}\t{i:.6f}\t{u:.6f}\t{tc:.8f}\t{td:.8f}\t"),
    V("arbin without step time", "delimited",
      "Test_Time(s),Cycle_Index,Step_Index,Current(A),Voltage(V),Charge_Capacity(Ah),Discharge_Capacity(Ah)",
      "{t},{cycle},{step},{i:.6f},{u:.6f},{tc:.8f},{td:.8f}"),
    V("arbin seconds as a clock", "arbin",
      "Data_Point,Date_Time,Test_Time,Step_Time,Cycle_Index,Step_Index,Voltage,Current,Charge_Capacity,"
      "Discharge_Capacity",
      "{n},{ampm},{hmsms},{sthms},{cycle},{step},{u:.6f},{i:.6f},{tc:.8f},{td:.8f}"),
    V("biologic short", "biologic",
      "mode\tox/red\terror\tNs\tcycle number\ttime/s\tEwe/V\tI/mA\tQ discharge/mA.h\tQ charge/mA.h\t",
      "1\t1\t0\t{count}\t{cycle}\t{t:.9E}\t{u:.7E}\t{ma:.7E}\t{mqd:.9E}\t{mqc:.9E}\t",
      above="EC-Lab ASCII FILE\nNb header lines : 5\n\nTechnique : GCPL", encoding="latin-1"),
    V("biologic commas", "biologic",
      "time/s\tEcell/V\t<I>/mA\tNs\tcycle number\tTemperature/°C\tQ charge/mA.h\tQ discharge/mA.h",
      "{t:.6E}\t{u:.7E}\t{ma:.7E}\t{count}\t{cycle}\t{temp}\t{mqc:.8E}\t{mqd:.8E}", comma=True, warm=True,
      encoding="latin-1"),
    V("biologic csv", "biologic", "time/s;Ewe/V;I/A;cycle number;Ns", "{t};{u:.6f};{i:.6f};{cycle};"
      "{count}", counted=False,
      shift=3e-5),
    V("biologic clock", "biologic",
      "Ns\ttime/s\tEwe-Ece/V\t<I>/mA\tcycle number", "{count}\t{us}.000\t{u:.6f}\t{ma:.4f}\t{cycle}",
      above="BT-Lab ASCII FILE\nNb header lines : 4\nAcquisition started on : 05/13/2024 10:00:00.000", counted=False),
    V("biologic charges only", "biologic", "Ns\ttime/s\tEcell/V\tdq/mA.h\tcycle number",
      "{count}\t{t}\t{u:.6f}\t{dq:.8f}\t{cycle}", counted=False),
    V("biologic micro", "biologic", "cycle number,Ns,Ewe/mV,I/µA,time/h", "{cycle},{count},{mv:.4f},{ua:.2f},{h:.9f}",
      counted=False),
    V("maccor minutes unsigned", "maccor",
      "Rec#\tCyc#\tStep\tTest (Min)\tStep (Min)\tAmp-hr\tWatt-hr\tAmps\tVolts\tState\tES\tDPt Time",
      "{n}\t{cycle}\t{step}\t{min:.6f}\t{stmin:.6f}\t{q:.8f}\t{e:.8f}\t{size:.6f}\t{u:.6f}\t{word}\t1\t{us}",
      words="letter"),
    V("maccor days", "maccor",
      "Rec,Cycle P,Cycle C,Step,TestTime,StepTime,Cap. [Ah],Ener. [Wh],Current [A],Voltage [V],Md,ES,DPT Time",
      "{n},0,{cycle},{step},{dhms},{sdhms},{q:.8f},{e:.8f},{size:.6f},{u:.6f},{word},1,{ampm}", words="letter",
      cycles=False),
    V("maccor hours signed", "maccor",
      "Cyc#,Step,Rec#,Test (Hr),Step (Hr),Amps,Volts,Amp-hr,Watt-hr,State,ES,Temp 1",
      "{cycle},{step},{n},{h:.9f},{sth:.9f},{i:.6f},{u:.6f},{q:.8f},{e:.8f},{word},1,"
      "{temp}", words="letter", warm=True),
    V("maccor milli thousands", "maccor",
      "Rec#\tCyc#\tStep\tTest (Sec)\tStep (Sec)\tmAmp-hr\tmWatt-hr\tmAmps\tmVolts\tState\tES",
      '{n}\t{cycle}\t{step}\t"{t:,.2f}"\t{st}\t{mq:,.5f}\t{me:,.5f}\t"{masize:,.3f}"\t"{mv:,.3f}"\t{word}\t1',
      words="letter"),
    V("maccor german", "maccor",
      "Rec#\tCyc#\tStep\tTestTime\tStepTime\tAmp-hr\tWatt-hr\tAmps\tVolts\tState\tES\tDPt Time\tTemp 1",
      "{n}\t{cycle}\t{step}\t{dhms}\t{sdhms}\t{q:.8f}\t{e:.8f}\t{size:.6f}\t{u:.6f}\t{word}\t1\t{de}\t{temp:.2f}",
      words="letter", comma=True, warm=True),
    V("maccor few", "maccor", "Cycle\tStep\tTest Time (s)\tCurrent (A)\tVoltage (V)\tState\tCapacity (Ah)",
      "{cycle}\t{step}\t{t}\t{size:.6f}\t{u:.6f}\t{word}\t{q:.8f}", words="letter"),
    V("neware tabs", "neware",
      "DataPoint\tCycle Index\tStep Index\tStep Type\tTime\tTotal Time\tCurrent(mA)\tVoltage(V)\tCapacity(mAh)\t"
      "Energy(mWh)\tDate\tPower(mW)",
      "{n}\t{cycle}\t{count}\t{word}\t{sthms}\t{hms}\t{ma:.4f}\t{u:.4f}\t{mq:.4f}\t{me:.4f}\t{iso}\t0"),
    V("neware unsigned", "neware",
      "Record ID,Step Type,Cycle ID,Step ID,Voltage(V),Current(A),Chg. Cap.(Ah),DChg. Cap.(Ah),Total Time,Date",
      "{n},{word},{cycle},{count},{u:.4f},{size:.4f},{qc:.6f},{qd:.6f},{hms},{iso}"),
    V("neware seven", "neware",
      "Record number,State,Jump,Cycle,Steps,Current(A),Voltage(V),CapaCity(Ah),Energy(Wh),Relative Time(h:min:s.ms),"
      "Date(h:min:s.ms)",
      "{n},{word},1,{cycle},{count},{i:.4f},{u:.4f},{q:.6f},{e:.6f},{sthms}.000,{iso}"),
    V("neware chinese", "neware",
      "数据序号,循环号,工步号,工步类型,时间,总时间,电流(A),电压(V),充电容量(Ah),放电容量(Ah),绝对时间",
      "{n},{cycle},{count},{word},{sthms},{hms},{i:.4f},{u:.4f},{qc:.6f},{qd:.6f},{iso}", words="chinese",
      encoding="gb18030"),
    V("neware micro", "neware",
      "Data Point,Cycle Index,Step Index,Step Type,Total Time(s),Current(uA),Voltage(mV),Capacity(uAh),T1(℃)",
      "{n},{cycle},{count},{word},{t},{ua:.1f},{mv:.2f},{uq:.2f},"
      "{temp}".replace("{uq:.2f}", "{mq:.6f}e3"), warm=True),
    V("neware step times", "neware",
      "Record ID;Cycle ID;Step ID;Step Type;Time;Current(A);Voltage(V);Capacity(Ah)",
      "{n};{cycle};{count};{word};{sthms};{i:.4f};{u:.4f};{q:.6f}", comma=True, joined=True),
    V("neware minutes", "neware",
      "DataPoint,Cycle Index,Step Index,Step Type,Time(min),Total Time(min),Current(A),Voltage(V),Chg. Cap.(Ah),"
      "DChg. Cap.(Ah)",
      "{n},{cycle},{count},{word},{stmin:.4f},{min:.4f},{i:.4f},{u:.4f},{qc:.6f},{qd:.6f}"),
    V("novonix quoted", "novonix",
      '"Date and Time,Cycle Number,Step Type,Run Time (h),Step Time (h),Current (A),Potential (V),Capacity (Ah),'
      'Temperature (°C),Circuit Temperature (°C),Energy (Wh),dVdt (V/h),dIdt (A/h),Step Number,Step position"',
      "{iso},{cycle},{step},{h:.9f},{sth:.9f},{i:.6f},{u:.6f},{qsigned:.8f},{temp},30,0,0,0,{count},1", quoted=True,
      above="[Summary]\nNovonix HPC data file\nCapacity (Ah): 0.5\nStarted: 2024-05-13 10:00:00 AM\n[End Summary]"
      "\n[Data]",
      warm=True, counted=False),
    V("novonix seconds", "novonix", "Run Time (s),Cycle Number,Step Number,Potential (V),Current (A)",
      "{t},{cycle},{count},{u:.6f},{i:.6f}", counted=False, shift=6e-5),
    V("novonix milli", "novonix", "Cycle Number\tStep Number\tRun Time (min)\tCurrent (mA)\t"
      "Potential (mV)\tTemperature (C)",
      "{cycle}\t{count}\t{min:.5f}\t{ma:.4f}\t{mv:.4f}\t{temp}", counted=False, warm=True),
    V("novonix german", "novonix", "Date and Time;Run Time (h);Step Number;Cycle Number;Potential (V);Current (A)",
      "{de};{h:.9f};{count};{cycle};{u:.6f};{i:.6f}", comma=True, counted=False),
    V("landt micro", "landt-short",
      "Record\tCycle-Index\tStep-Index\tTestTime/Sec.\tStepTime/Sec.\tCurrent/uA\tVoltage/mV\tCapacity/uAh\tState",
      "{n}\t{cycle}\t{count}\t{t}\t{st}\t{ua:.2f}\t{mv:.3f}\t{mq:.6f}e3\t{word}", words="landt"),
    V("landt chinese", "landt-short",
      "记录,循环序号,步骤序号,测试时间/Sec,电流/mA,电压/V,容量/mAh,系统时间,工作模式",
      "{n},{cycle},{count},{t},{ma:.4f},{u:.5f},{mq:.5f},{iso},{word}", words="landt", encoding="gb18030"),
    V("landt hours", "landt-short",
      "TestTime/Hour,SysTime,Cycle-Index,Step-Index,Voltage/V,Current/A,Capacity/Ah,Energy/Wh,Temperature/C",
      "{h:.9f},{iso},{cycle},{count},{u:.5f},{i:.6f},{q:.8f},{e:.8f},{temp}", warm=True),
    V("landt long german", "landt",
      "channel_index;cycle_index;step_index;date_time_iso_string;test_time_s;step_time_s;current_mA;voltage_mV;"
      "discharge_capacity_mAh;charge_capacity_mAh;temperature_1_C;step_name",
      "{n};{cycle};{count};{iso};{t:.3f};{st:.3f};{ma:.4f};{mv:.4f};{mqd:.6f};{mqc:.6f};{temp};{word}", comma=True,
      warm=True),
    V("landt clock", "landt-short", "Record,TestTime,Cycle-Index,Step-Index,Current/mA,Voltage/V,"
      "Capacity/mAh,Step-State",
      "{n},{dhms},{cycle},{count},{ma:.4f},{u:.5f},{mq:.5f},{word}", words="landt"),
    V("pec classic", "pec",
      "Test,Cell,Rack,Shelf,Position,Cell ID,Load On time,Step Time (Seconds),Step,Cycle,"
      "Total Time (Seconds),Voltage (mV),"
      "Current (mA),Charge Capacity (mAh),Discharge Capacity (mAh),Reason Code",
      "187,1,1,2,3,x,{us},{st},{count},{cycle},{t},{mv:.3f},{ma:.4f},{mqc:.5f},{mqd:.5f},0",
      above="Request Year:,2024\nTest:,187"),
    V("pec hours", "pec",
      "Cell,Test,Step,Cycle,Total Time (hh:mm:ss),Step Time (hh:mm:ss),Current (A),Voltage (V),Charge Capacity (Ah),"
      "Discharge Capacity (Ah),Temperature 1 (°C)",
      "1,187,{count},{cycle},{hms},{sthms},{i:.6f},{u:.6f},{qc:.8f},{qd:.8f},{temp}", warm=True),
    V("pec german", "pec",
      "Test;Cell;Step;Cycle;Total Time (Min);Voltage (V);Current (A);Charge Capacity (Ah);"
      "Discharge Capacity (Ah);Real Time",
      "187;1;{count};{cycle};{min:.5f};{u:.6f};{i:.6f};{qc:.8f};{qd:.8f};{de}", comma=True),
    V("basytec seconds", "basytec",
      "~Time[s]\tDataSet\tt-Step[s]\tLine\tCommand\tU[V]\tI[A]\tAh-Step\tT1[°C]\tCyc-Count\tState",
      "{t}\t{n}\t{st}\t{count}\t{word}\t{u:.6f}\t{i:.6f}\t{qsigned:.6f}\t{temp}\t{cycle}\t0", words="german",
      above="~Resultfile from Basytec Battery Test System\n~Start of Test: 13.05.2024 10:00:00\n~", warm=True,
      counted=False, encoding="latin-1"),
    V("basytec commas", "basytec",
      "~Time[h] DataSet DateTime t-Step[h] Line Command U[V] I[A] Ah-Cyc-Charge-0 Cyc-Count".replace(" ", ";"),
      "{h:.9f};{n};{de};{sth:.9f};{count};{word};{u:.6f};{i:.6f};0;"
      "{cycle}", words="german", comma=True, counted=False),
    V("basytec minutes", "basytec",
      "~Time[min]\tLine\tCommand\tI[mA]\tU[mV]\tCyc-Count\tAh-Cyc-Charge[Ah]\tAh-Cyc-Discharge[Ah]",
      "{min:.6f}\t{count}\t{word}\t{ma:.4f}\t{mv:.4f}\t{cycle}\t{cc:.8f}\t{cd:.8f}", words="german"),
    V("arbin report", "arbin",
      "Data Point,Date Time,Test Time (s),Step Time (s),Cycle Index,Step Index,Current (A),Voltage (V),Power (W),"
      "Charge Capacity (Ah),Discharge Capacity (Ah),Charge Energy (Wh),Discharge Energy (Wh),ACR (Ohm),dV/dt (V/s)",
      '{n},\t{us}.558,"{t:,.4f}",{st},{cycle},{step},{i:.6f},{u:.6f},0,{tc:.8f},{td:.8f},0,0,,',
      above="TEST REPORT\nTest Name,ageing,Serial Number,A1\nStart DateTime,05/13/2024 10:00:00,,\n"),
    V("arbin utf-16", "arbin",
      "Cycle_Index\tStep_Index\tStep_Time(s)\tTest_Time(s)\tCurrent(A)\tVoltage(V)\t"
      "Discharge_Capacity(Ah)\tCharge_Capacity(Ah)",
      "{cycle}\t{step}\t{st}\t{t}\t{i:.6E}\t{u:.6E}\t{td:.8E}\t{tc:.8E}", encoding="utf-16"),
    V("arbin epoch", "arbin",
      "Data_Point,Test_Time,DateTime,Step_Time,Step_Index,Cycle_Index,Current,Voltage,Charge_Capacity,"
      "Discharge_Capacity,"
      "Charge_Energy,Discharge_Energy,dV/dt,Internal_Resistance,Temperature",
      "{n},{t},{epoch:.0f},{st},{step},{cycle},{i:.6f},{u:.6f},{tc:.8f},{td:.8f},0,0,0,0.02,{temp}", warm=True),
    V("biologic loops", "biologic",
      "mode\tox/red\terror\tcontrol changes\tNs changes\tcounter inc.\tNs\tI Range\ttime/s\tcontrol/V/mA\t"
      "Ecell/V\tI/mA\t"
      "dq/mA.h\t(Q-Qo)/mA.h\tQ charge/discharge/mA.h\thalf cycle\tcycle number\tx",
      "1\t1\t0\t0\t0\t0\t{count}\t37\t{t:.15E}\t{ma:.7E}\t{u:.7E}\t{ma:.7E}\t{dq:.9E}\t0\t{qsigned:.7E}\t{count}\t"
      "{cycle:.15E}\t0.5", comma=True, counted=False,
      above="EC-Lab ASCII FILE\nNb header lines : 6\n\nAcquisition started on : 05/13/2024 10:00:00\n",
      encoding="latin-1"),
    V("biologic late", "biologic", "time/s\tcontrol/V\tEwe/V\t<I>/mA\tNs\tcycle number\tEnergy charge/W.h",
      "{t:09.3f}\t0\t{u:.6f}\t{ma:.4f}\t{count}\t{cycle}\t0", counted=False),
    V("maccor csv title", "maccor",
      "Rec#,Cyc#,Step,TestTime,StepTime,Amp-hr,Watt-hr,Amps,Volts,State,ES,DPt Time,ACImp,DCIR,,",
      '{n},{cycle},{step}, {dhms}, {sdhms},{q:.10f},{e:.10f},{size:.10f},{u:.8f},{word},133,"{us}",0,0,,'
      '', words="letter",
      above="Today's Date,10/10/2024,Date of Test:,05/13/2024,Filename:,C:\\data\\a.001,Procedure:,b.000,"
      "Comment/Barcode:,x"),
    V("maccor quoted commas", "maccor",
      '"Rec#";"Cyc#";"Step";"Test (Hr)";"Step (Hr)";"Amp-hr";"Watt-hr";"Amps";"Volts";"State";"ES";"DPt Time"',
      '"{n}";"{cycle}";"{step}";"{h:.9f}";"{sth:.9f}";"{q:.8f}";"{e:.8f}";"{size:.6f}";"{u:.6f}";"{word}";"1";"{de}"',
      words="letter", comma=True),
    V("neware spare columns", "neware",
      "DataPoint,Cycle Index,Step Index,Step Type,Time,Total Time,Current(A),Voltage(V),Capacity(Ah),"
      "Spec. Cap.(mAh/g),"
      "Chg. Cap.(Ah),DChg. Cap.(Ah),Energy(Wh),Date,Power(W),dQ/dV(mAh/V),Contact resistance(mΩ),"
      "Module start-stop switch,T1(℃)",
      "{n},{cycle},{count},{word},{sthms}.000,{hms}.000,{i:.6f},{u:.4f},{q:.6f},0,{qc:.6f},{qd:.6f},"
      "{e:.6f},{slash},0,--,0,"
      "Close,{temp}", warm=True),
    V("neware german", "neware",
      "DataPoint;Cycle Index;Step Index;Step Type;Total Time;Current(mA);Voltage(V);Chg. Cap.(mAh);"
      "DChg. Cap.(mAh);Date",
      "{n};{cycle};{count};{word};{hms};{masize:.4f};{u:.4f};{mqc:.4f};{mqd:.4f};{de}", comma=True),
    V("novonix position", "novonix",
      "Date and Time,Cycle Number,Run Time (h),Current (A),Potential (V),Step position,Temperature (C),Step Number",
      "{ampm},{cycle},{h:.9f},{i:.6f},{u:.6f},0,{temp},{count}", counted=False, warm=True,
      above="[Summary]\nNovonix UHPC data file\n[End Summary]\n[Protocol]\n[0: Rest:]\n[End Protocol]\n[Data]"),
    V("landt spaces", "landt-short",
      "Record, Cycle-Index, Step-Index, TestTime/min, Current/mA, Voltage/V, Capacity/mAh, SysTime, Step-State",
      "{n}, {cycle}, {count}, {min:.6f}, {masize:.4f}, {u:.5f}, {mq:.5f}, {iso}, {word}", words="landt"),
    V("pec clock", "pec",
      "Test,Cell,Rack,Shelf,Step,Cycle,Total Time (Seconds),Step Time (Seconds),Real Time,Voltage (V),Current (A),"
      "Charge Capacity (Ah),Discharge Capacity (Ah),Charge Capacity (Wh),Discharge Capacity (Wh),"
      "Ambient Temperature (°C)",
      '187,1,1,2,{count},{cycle},"{t:,.3f}",{st},{ampm},{u:.6f},{i:.6f},{qc:.8f},{qd:.8f},0,0,'
      '21', encoding="latin-1"),
    V("basytec dates", "basytec",
      "~Time[h];DataSet;DateTime;t-Step[h];Line;Command;U[V];I[A];Ah[Ah];Ah-Cyc-Charge;Ah-Cyc-Discharge;"
      "T1[°C];Cyc-Count",
      "{h:.9f};{n};{de};{sth:.9f};{count};{word};{u:.6f};{i:.6f};0;{cc:.8f};{cd:.8f};{temp};{cycle}", words="german",
      warm=True, encoding="latin-1"),
    V("total beside step time", "delimited",
      "Index,Cycle ID,Step ID,Step Name,Time,Total Time,Current/mA,Voltage/V,Capacity/mAh",
      "{n},{cycle},{count},{word},{sthms},{hms},{ma:.4f},{u:.5f},{mq:.5f}", counted=False, shift=1e-4),
    V("neware serial numbers", "neware",
      "Data serial number,Cycle number,Step number,Step type,Time,Total time,Current(A),Voltage(V),"
      "Charging capacity(Ah),Discharging capacity(Ah),Absolute time",
      "{n},{cycle},{count},{word},{sthms},{hms},{i:.5f},{u:.5f},{qc:.7f},{qd:.7f},{iso}"),
    V("spanish", "delimited", "Tiempo (s);Corriente (A);Tensión (V);Ciclo;Paso", "{t};{i:.6f};{u:.6f};{cycle};{count}",
      comma=True, counted=False, shift=1.2e-4),
    V("italian", "delimited", "Tempo (min);Corrente (mA);Tensione (V);Ciclo;Passo",
      "{min:.6f};{ma:.6f};{u:.6f};{cycle};{count}", comma=True, counted=False, shift=1.3e-4, encoding="latin-1"),
    V("maccor paused", "maccor",
      "Rec\tCyc\tStep\tTest Time (Hr)\tStep Time (Hr)\tCapacity (Ah)\tCurrent (A)\tVoltage (V)\tState",
      "{n}\t{cycle}\t{step}\t{h:.9f}\t{sth:.9f}\t{q:.8f}\t{size:.6f}\t{u:.6f}\t{word}", words="paused"),
    V("neware units below", "neware",
      "Record ID,Cycle ID,Step ID,Step Type,Total Time,Current,Voltage,Chg. Cap.,DChg. Cap.",
      "{n},{cycle},{count},{word},{hms},{ma:.4f},{mv:.3f},{mqc:.5f},{mqd:.5f}", below=",,,,,mA,mV,mAh,mAh"),
    V("japanese", "delimited", "経過時間[s],電流[A],電圧[V],サイクル,ステップ", "{t},{i:.6f},{u:.6f},{cycle},{count}",
      counted=False, shift=1.5e-4),
    V("numbers with signs", "delimited", "Rec#,TestTime(s),StepTime(s),Step#,Cycle#,Amps,Volts,Chg Ah,Dchg Ah",
      "{n},{t},{st},{step},{cycle},{i:.6f},{u:.6f},{tc:.8f},{td:.8f}", shift=5e-5),
    V("cell words", "delimited", "Elapsed Time [min];Cell Voltage [mV];Cell Current [mA];Cycle No.;Step No.",
      "{min:.5f};{mv:.4f};{ma:.3f};{cycle};{count}", counted=False, comma=True, shift=1.75e-4),
)  # fmt: skip
